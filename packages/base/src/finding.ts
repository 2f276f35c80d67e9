// A finding of an audit: a stable code and one sentence with both values. Data, not an exception.

export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}
