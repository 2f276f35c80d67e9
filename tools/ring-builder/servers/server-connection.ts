// One connection of the tool to one server, for as long as some work takes.
import { Link } from '@ringwright/node/link/link';
import type { Caller } from '@ringwright/wire/call-channel';
import { meetServer } from '@ringwright/wire/meet-server';
import { proofOf, shownIdentity, shownToken } from './server-proofs.ts';

export const connectTimeoutMs = 3_000;

/** Throws PEER_UNREACHABLE, PEER_UNPROVEN, WIRE_VERSION_UNKNOWN, and whatever `work` throws. */
export async function withServer<Result>(
  address: string,
  nowMs: number,
  work: (server: Caller) => Promise<Result>,
): Promise<Result> {
  const proof = await proofOf(address);
  const link = new Link(address, {
    handlers: new Map(),
    monotonicMs: () => performance.now(),
    connectTimeoutMs,
    proofOf: () => proof,
    token: shownToken,
    identity: shownIdentity(),
    greet: (_, caller) => meetServer(caller, { address, ms: nowMs, timeoutMs: connectTimeoutMs }),
  });
  try {
    return await work(await link.connect());
  } finally {
    link.close();
  }
}
