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
  FILE_UNFIT: kind(2, 400, 'what was named is no regular file, or has more bytes than it may have'),
  // Rings and devices: ring-builder; client (failure-kind), load-partition for RING_UNKNOWN
  RINGS_UNKNOWN: kind(2, 404, 'the folder of rings is not there'),
  // Not 404: a client that asks for a key would take it for "no such key".
  RING_UNKNOWN: tryOther(2, 503, 'no ring of this name is here'),
  RING_EXISTS: kind(2, 409, 'a ring of this name is here already'),
  RING_EMPTY: kind(2, 404, 'the ring has no committed version yet'),
  RING_VERSION_UNKNOWN: tryOther(2, 404, 'the ring has no such version'),
  DEVICE_UNKNOWN: kind(2, 404, 'the ring has no such device'),
  DEVICE_DUPLICATE: kind(2, 409, 'a device with this address and name is in the ring already'),
  DEVICE_INVALID: kind(2, 400, 'a device description cannot be read'),
  NEWCOMER_UNFIT: kind(5, 409, 'the server of a device that is to join says what does not fit'),
  SERVERS_OLDER: kind(5, 409, 'servers of the ring run a release that cannot read the version'),
  REPLICAS_EXCEED_DEVICES: kind(2, 409, 'fewer devices with weight than replicas'),
  // Ring files
  RING_FILE_INVALID: kind(2, 400, 'the bytes are not a whole, undamaged ring file'),
  RING_FORMAT_UNKNOWN: kind(2, 400, 'the ring file has a format number this program cannot read'),
  RING_TOO_LARGE: kind(2, 413, 'the ring file exceeds a cap'),
  RING_DELTA_INVALID: kind(2, 400, 'the delta does not make the ring it names of the one here'),
  ZONES_UNREACHABLE: kind(5, 409, 'the partitions cannot all be spread over that many zones'),
  PLACED_BY_TOKENS: kind(5, 409, 'the ring is placed by tokens, which leave no room for this rule'),
  INTERVALS_INVALID: kind(2, 400, 'boundaries of partitions are out of order, empty or too large'),
  SPLIT_OUTSIDE: kind(2, 400, 'a partition is split at a place that is not inside of it'),
  MERGE_NOT_ADJACENT: kind(2, 400, 'partitions to be merged are no neighbours'),
  RETIRE_NOTHING: kind(2, 400, 'no range lies wholly before the key'),
  MERGE_APART: kind(5, 409, 'partitions to be merged lie on different devices'),
  RESHAPE_UNFIT: kind(5, 409, 'partitions of this ring cannot be split or merged as it is'),
  PIN_INVALID: kind(2, 400, 'a pin names a partition or devices that it cannot have'),
  RING_AUDIT_FAILED: kind(5, 422, 'the ring breaks an invariant and must not be used'),
  // Files of other systems
  SWIFT_FILE_INVALID: kind(2, 400, 'the bytes are not a whole, sound ring or builder of Swift'),
  SWIFT_FORMAT_UNKNOWN: kind(2, 400, 'the Swift file has a format number unknown here'),
  SWIFT_FILE_TOO_LARGE: kind(2, 413, 'the Swift file is or inflates to more than a cap'),
  PICKLE_REFUSED: kind(2, 400, 'the pickle asks for what no ring or builder of Swift needs'),
  RING_NOT_CONVERTIBLE: kind(2, 409, 'the ring of one system has no equal in the other'),
  COMPONENTS_UNFIT: kind(2, 422, 'rings that a composite one is made of do not fit together'),
  COMPONENTS_OTHER: kind(5, 409, 'a composite ring is made of other rings, or of newer versions'),
  RING_COMPOSED: kind(5, 409, 'the ring is composed of others: what changes is one of those'),
  PART_POWER_INCREASING: kind(5, 409, 'Swift is raising the partition power: nothing may move'),
  IMPORT_FILE_INVALID: kind(2, 400, 'the JSON to import is not of the documented form'),
  // Signatures and trust: trust/ of the server; ring-builder's hints
  SIGNATURES_MISSING: kind(5, 422, 'fewer valid signatures of trusted keys than are needed'),
  RING_EPOCH_WRONG: kind(5, 409, 'the ring was signed in another epoch than the trusted root'),
  TOO_MANY_AT_ONCE: kind(5, 409, 'more replicas of one partition would move than was allowed'),
  DISK_TOO_SMALL: kind(5, 409, 'a device would get more bytes than its disk has room for'),
  BRAKE: kind(5, 409, 'a large change lacks its second signature and a reason to override'),
  TRUST_INVALID: kind(5, 422, 'a trust document is not of the right form or not rightly signed'),
  TRUST_OLDER: kind(5, 409, 'the trust document is older than the one in force'),
  TRUST_FORK: kind(5, 409, 'the trust document does not descend from the one in force'),
  TRUST_EXPIRED: kind(5, 409, 'the root that names the trusted keys has expired'),
  TRUST_UNKNOWN: kind(2, 404, 'there is no trust document for this cluster here'),
  TRUST_EXISTS: kind(2, 409, 'there is a trust document here already'),
  BEACON_REFUSED: tryAgain(5, 409, 'the beacon is forged, old, too long-lived or from the future'),
  BEACON_EXPIRED: kind(5, 409, 'no current beacon vouches for the ring: nothing is dropped'),
  SIGNING_KEY_UNKNOWN: kind(2, 404, 'no such signing key is known or its private half is not here'),
  SIGNING_KEY_EXISTS: kind(2, 409, 'a signing key of this name is here already'),
  SIGNING_KEY_LOCKED: kind(2, 401, 'the passphrase of a signing key is missing, weak or wrong'),
  // Access: the caller
  ACCESS_INVALID: kind(5, 422, 'an access document is not of the right form or not rightly signed'),
  ACCESS_OLDER: kind(5, 409, 'the access document is older than the one in force'),
  ACCESS_FORK: kind(5, 409, 'another access document of the same version is in force'),
  ACCESS_UNKNOWN: kind(2, 404, 'nobody has granted anything in this rings folder'),
  // For a server that starts over: its peers will send it the document, which may name the token.
  ACCESS_PENDING: tryOther(4, 503, 'no access document has come to this server yet'),
  TOKEN_MISSING: kind(5, 401, 'the request needs a token, and came without one'),
  TOKEN_REFUSED: kind(5, 401, 'the token is unknown, revoked, expired or not the right secret'),
  PERMISSION_MISSING: kind(5, 403, 'the token does not have the role that the request needs'),
  OPERATOR_ELSEWHERE: kind(5, 421, 'operators are answered at another address of the server'),
  TOKEN_UNKNOWN: kind(2, 404, 'no token of this name is granted'),
  TOKEN_EXISTS: kind(2, 409, 'a token of this name is granted already'),
  // Repositories: ring-builder; roll-out continues after HEAD_MOVED and LOCK_HELD
  HEAD_MOVED: kind(3, 409, 'the head is another version than the one this work was based on'),
  STAGED_MOVED: kind(3, 409, 'other changes were staged meanwhile than the ones planned with'),
  STAGED_ON_OLD_HEAD: kind(3, 409, 'changes were staged on a head that others have moved on from'),
  STAGED_NEEDED: kind(3, 409, 'a later staged command needs the one that is to be forgotten'),
  REBASE_CONFLICT: kind(3, 409, 'a staged command no longer fits the new head'),
  LOGS_DIVERGED: kind(3, 409, 'of two copies of a ring neither history continues the other'),
  RING_VERSION_PRUNED: kind(2, 410, 'the file of the version was pruned'),
  ARCHIVE_DIFFERS: kind(2, 409, 'the archive has another file of the same version'),
  PLAN_OVER_LIMIT: kind(5, 409, 'the plan does not keep to the limits of --if'),
  PLAN_STALE: kind(3, 409, 'the plan that was reviewed is not what a commit would do now'),
  LOCK_HELD: tryAgain(3, 423, 'another process is changing the ring'),
  RING_LOG_DAMAGED: kind(1, 500, 'the log is edited, cut or not in step with the other files'),
  BUILDER_FILE_INVALID: kind(2, 500, 'builder.json cannot be read'),
  MOVES_IN_FLIGHT: kind(5, 409, 'the head has moves in flight, and this needs a ring without any'),
  CONFIRMATION_NEEDED: kind(5, 409, 'the command is dangerous and was not confirmed'),
  DISK_FAILED: maybeDone(4, 507, 'a file could not be read or written'),
  // Heads that several machines share: publish-head, etcd-members, ring-heads
  HEAD_STORE_UNREACHABLE: tryAgain(4, 503, 'the store of the heads does not answer'),
  HEAD_STORE_REFUSED: kind(2, 401, 'the store of heads refuses the user, password or request'),
  HEAD_UNKNOWN: maybeDone(4, 503, 'the connection broke before it was known if the head moved'),
  HEAD_RECORD_INVALID: kind(1, 500, 'a record of the head or of its transaction cannot be read'),
  RING_STORES_TOO_FEW: tryAgain(4, 503, 'too few ring stores took or gave what the head names'),
  // Ring changes: ring-builder
  SERVERS_NOT_CONFIRMED: maybeTryAgain(4, 503, 'not every server has confirmed the version'),
  ROLLOUT_STALLED: maybeTryAgain(4, 503, 'a ring change made no progress for too long'),
  RECEIPT_INVALID: kind(1, 422, 'the receipt of a move is not of the right form or forged'),
  RECEIPTS_MISSING: kind(5, 409, 'moves lack the receipts of their joiners'),
  // Between servers: the caller. PEER_ codes mean that the peer gave no verdict (isPeerCode). After
  // PEER_BUSY the call may have run: room for its answer is checked before and after it.
  PEER_UNREACHABLE: maybeTryOther(4, 503, 'no connection to the other server'),
  PEER_TIMEOUT: maybeTryOther(4, 503, 'the other server did not answer in time'),
  PEER_BUSY: maybeTryOther(4, 503, 'too many bytes wait for the other server'),
  PEER_FAILED: maybeTryOther(4, 502, 'the other server failed or answered in a form unknown here'),
  PEER_UNPROVEN: tryOther(4, 502, 'the other end proves another key or certificate than expected'),
  CERTS_UNKNOWN: kind(2, 404, 'the folder of certificates has no authority'),
  INSECURE_LISTEN: kind(5, 409, 'a server would listen to others without TLS, trust or access'),
  TLS_BUNDLE_INVALID: kind(2, 400, 'the file has no key and certificate that belong together'),
  // Never PEER_: it is the verdict of the called server.
  CALLER_UNPROVEN: tryOther(4, 403, 'only a device whose key the ring names may ask for this'),
  WIRE_VERSION_UNKNOWN: tryOther(4, 426, 'the other end speaks another version of the wire format'),
  // Rings on servers: quorums (outdatedRing), ring-exchange, loads and copies, hints of the tool. A
  // device also answers PARTITION_FILLING for a record that it has stored but does not count yet.
  RING_OLDER: kind(5, 409, 'the ring is older than the highest version this server has seen'),
  RING_FORK: kind(5, 409, 'another ring with the same keyspace and version is active'),
  RING_FORK_SETTLED: kind(5, 409, 'a fork of this ring was settled for the other history'),
  RING_FORK_UNKNOWN: kind(2, 404, 'no fork of this ring was seen that could be settled'),
  RING_FOREIGN: kind(5, 409, 'the ring is of another cluster, keyspace or partition count'),
  RING_VERSION_JUMP: kind(5, 409, 'the version is absurdly far above the active one'),
  RING_STALE: tryNewRing(3, 409, 'the request used a ring older than the partition allows'),
  NOT_RESPONSIBLE: tryNewRing(3, 421, 'the active ring gives this device no slot of the partition'),
  PARTITION_FILLING: maybeTryOther(4, 503, 'this device does not hold all of the partition yet'),
  COPY_BUSY: tryAgain(4, 503, 'the source gives as many copies, or bytes, as it may: ask again'),
  COPY_CUT: tryAgain(4, 503, 'the connection broke in the middle of a copy; it goes on from there'),
  COPY_NEEDLESS: kind(3, 409, 'the partition has no records at the source: no file need be copied'),
  MOVE_UNKNOWN: kind(3, 409, 'no move with this assignment id is in flight here'),
  MOVE_STOPPED: kind(3, 409, 'an operator paused, retried or cancelled the move'),
  // Records: client (failure-kind), the coordinator, HTTP and Redis
  KEY_UNKNOWN: kind(1, 404, 'no record with this key'),
  KEY_INVALID: kind(2, 400, 'the key is empty, too long or not percent-encoded rightly'),
  KEY_MISPLACED: kind(2, 400, 'the key is of another partition than the request names'),
  VALUE_TOO_LARGE: kind(2, 413, 'the value is longer than allowed'),
  CONSISTENCY_INVALID: kind(2, 400, 'the consistency is not one, quorum, all or linearizable'),
  INTERNAL: maybeDone(1, 500, 'a bug: the log of the server has the reason'),
  METHOD_UNKNOWN: kind(2, 405, 'the resource does not know this method'),
  PATH_UNKNOWN: kind(2, 404, 'there is no such resource'),
  SUPERSEDED: done(1, 409, 'a newer record of the key exists, and replaces what this write stored'),
  CLOCK_AHEAD: kind(5, 409, 'the timestamp lies too far ahead of this clock'),
  KEY_CONTENDED: maybeTryAgain(4, 503, 'too many others change the key at the same time'),
  KEY_OVERTAKEN: maybeDone(4, 503, 'another change came in between; this one may precede it'),
  STAMP_TOO_OLD: kind(5, 409, 'the timestamp lies below what the holders have closed off'),
  CLOCK_BEHIND: tryAgain(4, 503, 'the clock of this server lies too far behind stamps that exist'),
  NOT_ENOUGH_REPLICAS: maybeTryAgain(4, 503, 'fewer slots answered than the consistency needs'),
  // Requests that cannot be read: HTTP
  HEADERS_TOO_LARGE: kind(2, 431, 'the first line and headers have more bytes than allowed'),
  REQUEST_LATE: kind(2, 408, 'the request did not arrive in time'),
  // Web pages: HTTP
  HOST_UNKNOWN: kind(5, 421, 'the Host header names no address and no name of this server'),
  ORIGIN_FOREIGN: kind(5, 403, 'a web page of another origin made its browser send the request'),
  CONTENT_TYPE_UNKNOWN: kind(2, 415, 'a body of JSON does not say that it is application/json'),
  // Conditions, batches and sessions: client, HTTP
  PRECONDITION_FAILED: kind(1, 412, 'the record is another than the condition names'),
  CONDITION_UNSUPPORTED: kind(2, 501, 'writes do not know a condition of this kind'),
  BATCH_TOO_LARGE: kind(2, 413, 'a batch has too many items or bytes'),
  ARCHIVE_INVALID: kind(2, 400, 'the folder is no whole archive of records'),
  CURSOR_INVALID: kind(2, 400, 'the cursor of a scan cannot be read, or belongs to another scan'),
  SESSION_INVALID: kind(2, 400, 'the session token cannot be read'),
  SESSION_BEHIND: tryAgain(4, 503, 'too few slots answered to be sure what the session has seen'),
  // Clients: the program that uses one
  WRITE_UNKNOWN: maybeDone(4, 503, 'the connection broke before the answer: it may be stored'),
  CLIENT_CLOSED: maybeDone(2, 400, 'the client has been closed'),
  // Starting a server: the operator
  LISTEN_FAILED: kind(4, 500, 'the address cannot be listened on'),
  DATA_DIR_NOT_MOUNTED: kind(4, 500, 'no file system is mounted at the data directory'),
  DATA_DIR_FOREIGN: kind(4, 500, 'the data directory has files in it that are of no device'),
  DATA_DIR_OF_ANOTHER_DEVICE: kind(5, 500, 'the data directory belongs to another device'),
  // Stores: data directories, the commit log, partition files. load-partition, copies, repair; the
  // client for STORE_ codes
  DATA_DIR_IN_USE: kind(3, 409, 'another process has this data directory open'),
  STORE_FAILED: maybeTryOther(4, 503, 'the disk failed under the store: reopen it from disk'),
  STORE_CLOSED: tryOther(4, 503, 'the store is closed or closing'),
  STORE_BUSY: tryAgain(4, 503, 'more bytes wait to be written than the queue may hold'),
  STORE_UNFIT: kind(4, 500, 'SQLite here is too old or does not keep the settings it was given'),
  DISK_FULL: tryAgain(4, 507, 'the disk has less free space than the work and the reserve need'),
  LOG_DAMAGED: kind(1, 500, 'the commit log is damaged elsewhere than in its torn tail'),
  PARTITION_ABSENT: kind(2, 404, 'this device has no file of the partition'),
  DROPS_DIFFER: kind(3, 409, 'the drops to let go are not those that are held now'),
  TRASH_UNKNOWN: kind(2, 404, 'no dropped partition of this name is on this device'),
  TRASH_RETIRED: kind(2, 409, 'a dropped file is of a partition that the ring no longer has'),
  PARTITION_EXISTS: kind(2, 409, 'this device has a file of the partition already'),
  PARTITION_DAMAGED: maybeTryOther(1, 500, 'the partition file is damaged; drop it and refill it'),
  RECORD_DAMAGED: maybeTryOther(1, 500, 'a record does not match its hash'),
  COPY_INVALID: tryOther(1, 422, 'a received partition file is not what its manifest says'),
  // Programs around a cluster
  LOCAL_CLUSTER_FAILED: kind(4, 500, 'a process of the local cluster did not do its part in time'),
} satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorCatalogue;

/** Whether the peer gave no verdict: not reached, late, too busy or not understood. */
export function isPeerCode(code: ErrorCode): boolean {
  return code.startsWith('PEER_');
}
