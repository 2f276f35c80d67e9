// Tells one server that of the two lines of a ring the one here is right.

import { CodedError, orCoded } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { ringActivationMsMax } from '@ringwright/base/limits-rings';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Caller } from '@ringwright/wire/call-channel';
import { ringSettle } from '@ringwright/wire/rings';
import { sendRing } from '@ringwright/wire/send-ring';
import { failureOf, offerTrust, type TrustDocuments } from '../../servers/give-trust.ts';
import type { DeltaFrom } from '../../servers/ring-deltas.ts';
import type { Target } from '../../servers/ring-targets.ts';
import { withServer } from '../../servers/server-connection.ts';

interface SettleWith {
  readonly reason: string;
  readonly trust: TrustDocuments | null;
  readonly deltaFrom: DeltaFrom;
}

export interface SettleOutcome {
  readonly address: string;
  readonly devices: readonly number[];
  readonly required: boolean;
  /**
   * settled: the fork alarm is cleared. quiet: there was none. Either way the version is active.
   */
  readonly outcome: 'settled' | 'quiet' | 'refused' | 'unreachable';
  readonly code?: ErrorCode;
  readonly message?: string;
}

/** Safe to repeat. A server that has not noticed the fork notices it when it receives the ring. */
export async function settleOn(
  version: StoredVersion,
  { address, devices, required }: Target,
  settings: SettleWith,
): Promise<SettleOutcome> {
  const settled = await orCoded(
    withServer(address, (server) => settleAndSend(server, version, settings)),
  );
  if (settled instanceof CodedError) return { address, devices, required, ...failureOf(settled) };
  return { address, devices, required, outcome: settled ? 'settled' : 'quiet' };
}

async function settleAndSend(
  server: Caller,
  { ring, id, bytes }: StoredVersion,
  { reason, trust, deltaFrom }: SettleWith,
): Promise<boolean> {
  const head = { keyspace: ring.keyspace, version: ring.version, id };
  const sent = { ...head, bytes, deltaFrom, timeoutMs: ringActivationMsMax };
  if (trust !== null) await offerTrust(server, trust);
  const settle = (): Promise<boolean> =>
    server.call(ringSettle, { ...head, reason }, ringActivationMsMax).then(
      () => true,
      (error: unknown) => {
        if (error instanceof CodedError && error.code === 'RING_FORK_UNKNOWN') return false;
        throw error;
      },
    );
  if (await settle()) {
    await sendRing(server, sent);
    return true;
  }
  try {
    await sendRing(server, sent);
    return false;
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== 'RING_FORK') throw error;
  }
  const settled = await settle();
  await sendRing(server, sent);
  return settled;
}
