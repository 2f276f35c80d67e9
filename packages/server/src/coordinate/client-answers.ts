// Answers clients that call this device over the wire as a coordinator.
import { CodedError } from '@ringwright/base/coded-error';
import { withinPrefix } from '@ringwright/base/key-bounds';
import type { coordinateGet, coordinatePut } from '@ringwright/wire/coordination';
import type { coordinateScan as scanMessage } from '@ringwright/wire/listing';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { Metrics } from '../telemetry/metrics.ts';
import { mayWriteIf, writeIf } from './change-key.ts';
import { coordinateWrite } from './coordinate.ts';
import { coordinateScan } from './coordinate-scan.ts';
import { readInSession, type SessionPorts } from './read-in-session.ts';
import { expiryOf } from './request-terms.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

export interface ClientPorts extends SessionPorts {
  readonly metrics: Pick<Metrics, 'clientSeconds' | 'sessionEscalations'>;
}

/**
 * Stamps and coordinates a write. The ring version in the answer lets the client notice that its
 * own ring is old.
 */
export async function answerPut(
  { coordinator, metrics }: ClientPorts,
  request: RequestOf<typeof coordinatePut>,
): Promise<AnswerOf<typeof coordinatePut>> {
  const end = metrics.clientSeconds.startTimer({ method: 'put' });
  try {
    const { ttlMs, condition, ...fields } = request;
    const expiresMs = ttlMs === null ? 0 : expiryOf(ttlMs, coordinator.clock.nowMs());
    const content = { ...fields, expiresMs };
    const { ms, tie, origin } =
      condition === null
        ? await coordinateWrite(coordinator, content)
        : await writeIf(coordinator, content, mayWriteIf(condition));
    const ringVersion = versionOf(coordinator, request.keyspace);
    return { ms, tie, ...(origin && { origin }), ...(expiresMs > 0 && { expiresMs }), ringVersion };
  } finally {
    end();
  }
}

export async function answerGet(
  ports: ClientPorts,
  request: RequestOf<typeof coordinateGet>,
): Promise<AnswerOf<typeof coordinateGet>> {
  const end = ports.metrics.clientSeconds.startTimer({ method: 'get' });
  try {
    const record = await readInSession(ports, request);
    const ringVersion = versionOf(ports.coordinator, request.keyspace);
    return { record, ringVersion };
  } finally {
    end();
  }
}

/** Returns a page of one partition. The client goes from one partition to the next. */
export async function answerScanPage(
  { coordinator, metrics }: ClientPorts,
  request: RequestOf<typeof scanMessage>,
): Promise<AnswerOf<typeof scanMessage>> {
  const end = metrics.clientSeconds.startTimer({ method: 'scan' });
  try {
    const { keyspace, partition, prefix } = request;
    const { partitions } = coordinator.rings.get(keyspace).ring;
    if (partition >= partitions) {
      const message = `there is no partition ${partition} of ${keyspace}, which has ${partitions}`;
      throw new CodedError('VALUE_OUT_OF_RANGE', message, { details: { partition, partitions } });
    }
    const bounds = withinPrefix(request, prefix);
    const { rows, next } = await coordinateScan(coordinator, { ...request, ...bounds });
    return { rows, next, ringVersion: versionOf(coordinator, keyspace) };
  } finally {
    end();
  }
}

function versionOf({ rings }: CoordinatorPorts, keyspace: string): number {
  return rings.get(keyspace).ring.version;
}
