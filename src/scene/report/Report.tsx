/** What a simulation found. */
export function Report({ data }: { readonly data: unknown }) {
  return (
    <main>
      <h1>idlest simulate</h1>
      <pre>{JSON.stringify(data)}</pre>
    </main>
  )
}
