// The one list of error codes: stable names, each with what it means, its exit code and HTTP status.
// Codes never change their meaning; messages may. Exit codes and their meaning: exit-code.ts.

interface ErrorKind {
  /** One sentence: "is returned when …". */
  readonly means: string;
  /** Exit code of a command that ends with this error. */
  readonly exit: 1 | 2 | 3 | 4 | 5;
  /** HTTP status of an answer that carries this error. */
  readonly http: number;
}

const kind = (exit: ErrorKind['exit'], http: number, means: string): ErrorKind => ({
  means,
  exit,
  http,
});

export const errorCatalogue = {
  // Input of any kind
  USAGE: kind(2, 400, 'the command or request is not of the right form'),
  NAME_INVALID: kind(2, 400, 'a ring or keyspace name is not [a-z0-9][a-z0-9-]{0,62}'),
  VALUE_OUT_OF_RANGE: kind(2, 400, 'a number is outside its named limit'),
  // Rings and devices
  RING_UNKNOWN: kind(2, 404, 'no ring of this name is here'),
  RING_EXISTS: kind(2, 409, 'a ring of this name is here already'),
  RING_EMPTY: kind(2, 404, 'the ring has no committed version yet'),
  RING_VERSION_UNKNOWN: kind(2, 404, 'the ring has no such version'),
  DEVICE_UNKNOWN: kind(2, 404, 'the ring has no such device'),
  DEVICE_DUPLICATE: kind(2, 409, 'a device with this address and name is in the ring already'),
  DEVICE_INVALID: kind(2, 400, 'a device description cannot be read'),
  REPLICAS_EXCEED_DEVICES: kind(2, 409, 'fewer devices with weight than replicas'),
  // Ring files
  RING_FILE_INVALID: kind(2, 400, 'the bytes are not a whole, undamaged ring file'),
  RING_FORMAT_UNKNOWN: kind(2, 400, 'the ring file has a format number this program cannot read'),
  RING_TOO_LARGE: kind(2, 413, 'the ring file exceeds a cap'),
  RING_AUDIT_FAILED: kind(5, 422, 'the ring breaks an invariant and must not be used'),
} satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorCatalogue;
