// esbuild puts what is imported so into the page's one style sheet.
declare module '*.css'
