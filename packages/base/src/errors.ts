// The only list of error codes: stable names, each with its meaning and how to handle it: HTTP
// status, exit code, whether the work is done, and where the same request may be retried. A code
// never changes its meaning; its message may. A comment above a group names who handles it.

export interface ErrorKind {
  /** One sentence: "is returned when …". */
  readonly means: string;
  /** Exit code of a command that ends with this error. */
  readonly exit: 1 | 2 | 3 | 4 | 5;
  /** HTTP status of a response that carries this error. */
  readonly http: number;
  /**
   * What happened to the request. `done`: it took effect, or a newer one replaced it. An error that
   * knows better sets `details.outcome`, which CodedError.outcome prefers.
   */
  readonly outcome: 'not-done' | 'maybe-done' | 'done';
  /**
   * Where the same request may succeed. `same-server`: on this server, later. `other-server`: this
   * server lacks something that another may have. `after-ring`: when repeated with a newer ring.
   * `never`: only after the request, or its object, has been changed.
   */
  readonly retry: 'same-server' | 'other-server' | 'after-ring' | 'never';
}

type Entry = (exit: ErrorKind['exit'], http: number, means: string) => ErrorKind;

const entry =
  (outcome: ErrorKind['outcome'], retry: ErrorKind['retry']): Entry =>
  (exit, http, means) => ({ means, exit, http, outcome, retry });

/** Refused before anything was done; every server refuses the same request. */
const kind = entry('not-done', 'never');
const tryAgain = entry('not-done', 'same-server');
const tryOther = entry('not-done', 'other-server');
const tryNewRing = entry('not-done', 'after-ring');
const maybeDone = entry('maybe-done', 'never');
const maybeTryAgain = entry('maybe-done', 'same-server');
const maybeTryOther = entry('maybe-done', 'other-server');
const done = entry('done', 'never');

export const errorCatalogue = {
  // Input of any kind
  USAGE: kind(2, 400, 'the command or request is not of the right form'),
  NAME_INVALID: kind(2, 400, 'a ring or keyspace name is not [a-z0-9][a-z0-9-]{0,62}'),
  VALUE_OUT_OF_RANGE: kind(2, 400, 'a number is outside its named limit'),
  PATTERN_TOO_LARGE: kind(2, 413, 'the patterns of a request have more bytes than allowed'),
  FILE_UNFIT: kind(2, 400, 'the named file is not a regular file, or is too large'),
  // Rings and devices: ring-builder; client (failure-kind), load-partition for RING_UNKNOWN
  RINGS_UNKNOWN: kind(2, 404, 'the folder of rings does not exist'),
  // Not 404: a client that asks for a key would take it for "no such key".
  RING_UNKNOWN: tryOther(2, 503, 'there is no ring of this name here'),
  RING_EXISTS: kind(2, 409, 'a ring of this name exists already'),
  RING_EMPTY: kind(2, 404, 'the ring has no committed version yet'),
  RING_VERSION_UNKNOWN: tryOther(2, 404, 'the ring has no such version'),
  DEVICE_UNKNOWN: kind(2, 404, 'the ring has no such device'),
  DEVICE_DUPLICATE: kind(2, 409, 'the ring already has a device with this address and name'),
  DEVICE_INVALID: kind(2, 400, 'a device description cannot be read'),
  NEWCOMER_UNFIT: kind(5, 409, 'the server of a new device does not match the device'),
  SERVERS_OLDER: kind(5, 409, 'servers of the ring run a release that cannot read the version'),
  REPLICAS_EXCEED_DEVICES: kind(2, 409, 'the ring has fewer devices with weight than replicas'),
  // Ring files
  RING_FILE_INVALID: kind(2, 400, 'the bytes are not a whole, undamaged ring file'),
  RING_FORMAT_UNKNOWN: kind(2, 400, 'the ring file has a format number this program cannot read'),
  RING_TOO_LARGE: kind(2, 413, 'the ring file exceeds a limit'),
  RING_DELTA_INVALID: kind(2, 400, 'the delta does not turn the ring here into the one it names'),
  ZONES_UNREACHABLE: kind(5, 409, 'the partitions cannot all be spread over that many zones'),
  PLACED_BY_TOKENS: kind(5, 409, 'the ring is placed by tokens, which leave no room for this rule'),
  INTERVALS_INVALID: kind(2, 400, 'boundaries of partitions are out of order, empty or too large'),
  SPLIT_OUTSIDE: kind(2, 400, 'the place of a split is not inside the partition'),
  MERGE_NOT_ADJACENT: kind(2, 400, 'the partitions to merge are not neighbors'),
  RETIRE_NOTHING: kind(2, 400, 'no range lies entirely before the key'),
  MERGE_APART: kind(5, 409, 'the partitions to merge are on different devices'),
  RESHAPE_UNFIT: kind(5, 409, 'the ring cannot split or merge partitions in its present state'),
  PIN_INVALID: kind(2, 400, 'a pin names a partition or devices that it cannot have'),
  RING_AUDIT_FAILED: kind(5, 422, 'the ring breaks an invariant and must not be used'),
  // Files of other systems
  SWIFT_FILE_INVALID: kind(2, 400, 'the bytes are not a whole, sound ring or builder of Swift'),
  SWIFT_FORMAT_UNKNOWN: kind(2, 400, 'this program does not know the format of the Swift file'),
  SWIFT_FILE_TOO_LARGE: kind(2, 413, 'the Swift file is too large, compressed or uncompressed'),
  PICKLE_REFUSED: kind(2, 400, 'the pickle uses what no ring or builder of Swift needs'),
  RING_NOT_CONVERTIBLE: kind(2, 409, 'the ring of one system cannot be expressed in the other'),
  COMPONENTS_UNFIT: kind(2, 422, 'the components of a composite ring do not fit together'),
  COMPONENTS_OTHER: kind(5, 409, 'the composite ring has other or newer components'),
  RING_COMPOSED: kind(5, 409, 'the ring is composite: change one of its components'),
  PART_POWER_INCREASING: kind(5, 409, 'Swift is raising the partition power: nothing may move'),
  IMPORT_FILE_INVALID: kind(2, 400, 'the JSON to import does not have the documented form'),
  // Signatures and trust: trust/ of the server; ring-builder's hints
  SIGNATURES_MISSING: kind(5, 422, 'fewer valid signatures of trusted keys than are needed'),
  RING_EPOCH_WRONG: kind(5, 409, 'the ring and the trusted root have different epochs'),
  TOO_MANY_AT_ONCE: kind(5, 409, 'more replicas of one partition would move than was allowed'),
  DISK_TOO_SMALL: kind(5, 409, 'a device would get more bytes than its disk has room for'),
  BRAKE: kind(5, 409, 'a large change has no second signature and no override'),
  TRUST_INVALID: kind(5, 422, 'a trust document is malformed or not validly signed'),
  TRUST_OLDER: kind(5, 409, 'the trust document is older than the one in force'),
  TRUST_FORK: kind(5, 409, 'the trust document does not descend from the one in force'),
  TRUST_EXPIRED: kind(5, 409, 'the root that names the trusted keys has expired'),
  TRUST_UNKNOWN: kind(2, 404, 'there is no trust document for this cluster here'),
  TRUST_EXISTS: kind(2, 409, 'there is a trust document here already'),
  BEACON_REFUSED: tryAgain(5, 409, 'the beacon is forged, old, too long-lived or from the future'),
  BEACON_EXPIRED: kind(5, 409, 'no current beacon vouches for the ring: nothing is dropped'),
  SIGNING_KEY_UNKNOWN: kind(2, 404, 'the signing key is unknown, or its private half is not here'),
  SIGNING_KEY_EXISTS: kind(2, 409, 'a signing key of this name exists already'),
  SIGNING_KEY_LOCKED: kind(2, 401, 'the passphrase of a signing key is missing, weak or wrong'),
  // Access: the caller
  ACCESS_INVALID: kind(5, 422, 'an access document is malformed or not validly signed'),
  ACCESS_OLDER: kind(5, 409, 'the access document is older than the one in force'),
  ACCESS_FORK: kind(5, 409, 'another access document of the same version is in force'),
  ACCESS_UNKNOWN: kind(2, 404, 'this rings folder has no access document'),
  // For a server that starts over: its peers will send it the document, which may name the token.
  ACCESS_PENDING: tryOther(4, 503, 'this server has not received an access document yet'),
  TOKEN_MISSING: kind(5, 401, 'the request needs a token and has none'),
  TOKEN_REFUSED: kind(5, 401, 'the token is unknown, revoked or expired, or its secret is wrong'),
  PERMISSION_MISSING: kind(5, 403, 'the token does not have the role that the request needs'),
  OPERATOR_ELSEWHERE: kind(5, 421, 'operator requests are served at another address of the server'),
  TOKEN_UNKNOWN: kind(2, 404, 'there is no token of this name'),
  TOKEN_EXISTS: kind(2, 409, 'a token of this name is granted already'),
  // Repositories: ring-builder; roll-out continues after HEAD_MOVED and LOCK_HELD
  HEAD_MOVED: kind(3, 409, 'the head is no longer the version this work was based on'),
  STAGED_MOVED: kind(3, 409, 'the staged changes are no longer those of the plan'),
  STAGED_ON_OLD_HEAD: kind(3, 409, 'changes were staged on a version that is no longer the head'),
  STAGED_NEEDED: kind(3, 409, 'a later staged command needs the one to unstage'),
  REBASE_CONFLICT: kind(3, 409, 'a staged command no longer fits the new head'),
  LOGS_DIVERGED: kind(3, 409, 'two copies of a ring have different histories'),
  RING_VERSION_PRUNED: kind(2, 410, 'the file of the version was pruned'),
  ARCHIVE_DIFFERS: kind(2, 409, 'the archive has another file of the same version'),
  PLAN_OVER_LIMIT: kind(5, 409, 'the plan exceeds a limit of --if'),
  PLAN_STALE: kind(3, 409, 'the plan that was reviewed is not what a commit would do now'),
  LOCK_HELD: tryAgain(3, 423, 'another process is changing the ring'),
  RING_LOG_DAMAGED: kind(1, 500, 'the log was edited or cut, or does not match the other files'),
  BUILDER_FILE_INVALID: kind(2, 500, 'builder.json cannot be read'),
  MOVES_IN_FLIGHT: kind(5, 409, 'the head has moves in flight, and this needs a ring without'),
  CONFIRMATION_NEEDED: kind(5, 409, 'the command is dangerous and was not confirmed'),
  DISK_FAILED: maybeDone(4, 507, 'a file could not be read or written'),
  // Heads that several machines share: publish-head, etcd-members, ring-heads
  HEAD_LOST: kind(3, 409, 'the head store lost a head, and this copy lacks commits of it'),
  HEAD_STORE_UNREACHABLE: tryAgain(4, 503, 'the head store does not answer'),
  HEAD_STORE_REFUSED: kind(2, 401, 'the head store refuses the user, password or request'),
  HEAD_UNKNOWN: maybeDone(4, 503, 'the connection broke: the head may or may not have moved'),
  HEAD_RECORD_INVALID: kind(1, 500, 'a record of the head or of its transaction cannot be read'),
  RING_STORES_TOO_FEW: tryAgain(
    4,
    503,
    'too few ring stores stored or returned the version of the head',
  ),
  // Ring changes: ring-builder
  SERVERS_NOT_CONFIRMED: maybeTryAgain(4, 503, 'not every server has confirmed the version'),
  ROLLOUT_STALLED: maybeTryAgain(4, 503, 'a ring change made no progress for too long'),
  RECEIPT_INVALID: kind(1, 422, 'the receipt of a move is malformed or forged'),
  RECEIPTS_MISSING: kind(5, 409, 'moves lack the receipts of their joiners'),
  // Between servers: the caller. PEER_ codes mean that the peer gave no verdict (isPeerCode). After
  // PEER_BUSY the call may have run: room for its answer is checked before and after it.
  PEER_UNREACHABLE: maybeTryOther(4, 503, 'no connection to the other server'),
  PEER_TIMEOUT: maybeTryOther(4, 503, 'the other server did not answer in time'),
  PEER_BUSY: maybeTryOther(4, 503, 'too many bytes are queued for the other server'),
  PEER_FAILED: maybeTryOther(4, 502, 'the other server failed, or its answer cannot be read here'),
  PEER_UNPROVEN: tryOther(4, 502, 'the other end has an unexpected key or certificate'),
  CERTS_UNKNOWN: kind(2, 404, 'the folder of certificates has no certificate authority'),
  INSECURE_LISTEN: kind(5, 409, 'other machines could reach a server without TLS, trust or tokens'),
  TLS_BUNDLE_INVALID: kind(2, 400, 'the file has no key and certificate that belong together'),
  // Never PEER_: it is the verdict of the called server.
  CALLER_UNPROVEN: tryOther(4, 403, 'only a device whose key the ring names may request this'),
  WIRE_VERSION_UNKNOWN: tryOther(4, 426, 'the other end speaks another version of the wire format'),
  // Rings on servers: quorums (outdatedRing), ring-exchange, loads and copies, hints of the tool. A
  // device also answers PARTITION_FILLING for a record that it has stored but does not count yet.
  RING_OLDER: kind(5, 409, 'the ring is older than the highest version this server has seen'),
  RING_FORK: kind(5, 409, 'another ring with the same keyspace and version is active'),
  RING_FORK_SETTLED: kind(5, 409, 'a fork of this ring was settled for the other history'),
  RING_FORK_UNKNOWN: kind(2, 404, 'no fork of this ring was seen that could be settled'),
  RING_FOREIGN: kind(5, 409, 'the ring has another cluster, keyspace or partition count'),
  RING_VERSION_JUMP: kind(5, 409, 'the version is absurdly far above the active one'),
  RING_STALE: tryNewRing(3, 409, 'the request used a ring that is too old for the partition'),
  NOT_RESPONSIBLE: tryNewRing(3, 421, 'the active ring gives this device no slot of the partition'),
  PARTITION_FILLING: maybeTryOther(4, 503, 'this device does not hold all of the partition yet'),
  COPY_BUSY: tryAgain(4, 503, 'the source sends as many copies or bytes as it may: try again'),
  COPY_CUT: tryAgain(4, 503, 'the connection broke during a copy, which will resume'),
  COPY_NEEDLESS: kind(3, 409, 'the source has no records of the partition: no file to copy'),
  MOVE_UNKNOWN: kind(3, 409, 'no move with this assignment id is in flight here'),
  MOVE_STOPPED: kind(3, 409, 'an operator paused, retried or cancelled the move'),
  // Records: client (failure-kind), the coordinator, HTTP and Redis
  KEY_UNKNOWN: kind(1, 404, 'no record with this key'),
  KEY_INVALID: kind(2, 400, 'the key is empty, too long or incorrectly percent-encoded'),
  KEY_MISPLACED: kind(2, 400, 'the key belongs to another partition than the request'),
  VALUE_TOO_LARGE: kind(2, 413, 'the value is longer than allowed'),
  CONSISTENCY_INVALID: kind(2, 400, 'the consistency is not one, quorum, all or linearizable'),
  INTERNAL: maybeDone(1, 500, 'a bug: the log of the server has the reason'),
  METHOD_UNKNOWN: kind(2, 405, 'the resource does not support this method'),
  PATH_UNKNOWN: kind(2, 404, 'there is no such resource'),
  SUPERSEDED: done(1, 409, 'a newer record of the key exists, and replaces what this write stored'),
  CLOCK_AHEAD: kind(5, 409, 'the timestamp is too far ahead of the clock of this server'),
  KEY_CONTENDED: maybeTryAgain(4, 503, 'too many clients change the key at the same time'),
  KEY_OVERTAKEN: maybeDone(
    4,
    503,
    'another change came in between; this one may have come before it',
  ),
  STAMP_TOO_OLD: kind(5, 409, 'the timestamp is older than the holders still accept'),
  CLOCK_BEHIND: tryAgain(4, 503, 'the clock of this server is too far behind existing stamps'),
  NOT_ENOUGH_REPLICAS: maybeTryAgain(4, 503, 'fewer slots answered than the consistency needs'),
  // Requests that cannot be read: HTTP
  HEADERS_TOO_LARGE: kind(2, 431, 'the first line and headers have more bytes than allowed'),
  REQUEST_LATE: kind(2, 408, 'the request did not arrive in time'),
  // Web pages: HTTP
  HOST_UNKNOWN: kind(5, 421, 'the Host header is no address or name of this server'),
  ORIGIN_FOREIGN: kind(5, 403, 'the request comes from a web page of another origin'),
  CONTENT_TYPE_UNKNOWN: kind(2, 415, 'the JSON body lacks the content type application/json'),
  // Conditions, batches and sessions: client, HTTP
  PRECONDITION_FAILED: kind(1, 412, 'the record does not meet the condition'),
  CONDITION_UNSUPPORTED: kind(2, 501, 'writes do not support a condition of this kind'),
  BATCH_TOO_LARGE: kind(2, 413, 'a batch has too many items or bytes'),
  ARCHIVE_INVALID: kind(2, 400, 'the folder is not a complete archive of records'),
  CURSOR_INVALID: kind(2, 400, 'the cursor of a scan cannot be read, or belongs to another scan'),
  SESSION_INVALID: kind(2, 400, 'the session token cannot be read'),
  SESSION_BEHIND: tryAgain(4, 503, 'too few slots answered to read what the session has seen'),
  // Clients: the program that uses one
  WRITE_UNKNOWN: maybeDone(
    4,
    503,
    'the connection broke before the answer: the write may be stored',
  ),
  CLIENT_CLOSED: maybeDone(2, 400, 'the client has been closed'),
  // Starting a server: the operator
  LISTEN_FAILED: kind(4, 500, 'the server cannot listen on the address'),
  DATA_DIR_NOT_MOUNTED: kind(4, 500, 'no file system is mounted at the data directory'),
  DATA_DIR_FOREIGN: kind(4, 500, 'the data directory has files that belong to no device'),
  DATA_DIR_OF_ANOTHER_DEVICE: kind(5, 500, 'the data directory belongs to another device'),
  // Stores: data directories, the commit log, partition files. load-partition, copies, repair; the
  // client for STORE_ codes
  DATA_DIR_IN_USE: kind(3, 409, 'another process has this data directory open'),
  STORE_FAILED: maybeTryOther(4, 503, 'the disk failed: the store must be reopened from disk'),
  STORE_CLOSED: tryOther(4, 503, 'the store is closed or closing'),
  STORE_BUSY: tryAgain(4, 503, 'too many bytes wait to be written'),
  STORE_UNFIT: kind(4, 500, 'SQLite is too old here, or ignores a setting'),
  DISK_FULL: tryAgain(4, 507, 'the disk has too little free space for the work and the reserve'),
  LOG_DAMAGED: kind(1, 500, 'the commit log is damaged, and not just torn at its end'),
  PARTITION_ABSENT: kind(2, 404, 'this device has no file of the partition'),
  DROPS_DIFFER: kind(3, 409, 'the drops to confirm are not the ones held now'),
  TRASH_UNKNOWN: kind(2, 404, 'this device has no dropped partition of this name'),
  TRASH_RETIRED: kind(2, 409, 'the dropped file is of a partition that the ring no longer has'),
  PARTITION_EXISTS: kind(2, 409, 'this device has a file of the partition already'),
  PARTITION_DAMAGED: maybeTryOther(1, 500, 'the partition file is damaged; drop it and refill it'),
  RECORD_DAMAGED: maybeTryOther(1, 500, 'a record does not match its hash'),
  COPY_INVALID: tryOther(1, 422, 'a received partition file does not match its manifest'),
  // Programs around a cluster
  LOCAL_CLUSTER_FAILED: kind(4, 500, 'a process of the local cluster did not do its part in time'),
} satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorCatalogue;

/** Whether the peer gave no verdict: not reached, late, too busy or not understood. */
export function isPeerCode(code: ErrorCode): boolean {
  return code.startsWith('PEER_');
}
