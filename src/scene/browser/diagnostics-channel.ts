/** Stands in for a channel of `node:diagnostics_channel`: nobody listens in a page. */
class Silent {
  readonly hasSubscribers = false

  publish(): void {}
}

export function channel(): Silent {
  return new Silent()
}

export function tracingChannel(): Silent {
  return new Silent()
}
