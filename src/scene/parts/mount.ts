import { type ComponentChild, render } from 'preact'

/** Puts a page into the element that each page's HTML has for it. */
export function mount(page: ComponentChild): void {
  const place = document.getElementById('app')
  if (place === null) throw new Error('the page has no #app')
  render(page, place)
}
