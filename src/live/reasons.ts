/** Why a node is not picked now. */
export type ReasonCode =
  | 'maint'
  | 'down'
  | 'drain'
  | 'ordered'
  | 'weight'
  | 'ejected'
  | 'unheard'
  | 'expired'
  | 'band'
  | 'full'
  | 'outdone'
