/**
 * The number that someone typed; NaN where it is none. Commas and spaces may group its digits by three, as in
 * `1,000,000`; a comma is no decimal point, so `1,5` is no number rather than 15 or one and a half.
 */
export function enteredNumber(text: string): number {
  const typed = text.trim()
  // Number takes '' for 0, and words such as 0x10 that nobody means.
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(typed)) return Number(typed)
  if (/^[+-]?\d{1,3}([, \u00a0\u202f]\d{3})+(\.\d*)?$/.test(typed)) {
    return Number(typed.replaceAll(/[, \u00a0\u202f]/g, ''))
  }
  return Number.NaN
}
