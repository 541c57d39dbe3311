import type { ComponentChildren } from 'preact'

interface JumpProps {
  /** The id of a part of the page. */
  readonly to: string
  readonly class?: string
  readonly children: ComponentChildren
}

/** A link within the page that leaves the address alone: its hash holds what the visitor has set. */
export function Jump({ to, children, class: className }: JumpProps) {
  function jump(event: Event): void {
    const part = document.getElementById(to)
    if (part === null) return
    event.preventDefault()
    part.scrollIntoView()
    // The keyboard, and who listens, go on from there.
    part.tabIndex = -1
    part.focus({ preventScroll: true })
  }
  return (
    <a href={`#${to}`} class={className} onClick={jump}>
      {children}
    </a>
  )
}
