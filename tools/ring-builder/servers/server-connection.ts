// Connections of the tool to servers, kept for one piece of work or for a whole command.
import { AsyncLocalStorage } from 'node:async_hooks';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { isPeerCode } from '@ringwright/base/errors';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { isWholeAddress } from '@ringwright/base/server-address';
import { Link } from '@ringwright/node/link/link';
import type { Caller } from '@ringwright/wire/call-channel';
import { greetServer } from '@ringwright/wire/greet-server';
import { credentialsFor, noteInsecure, progressLines } from './server-proofs.ts';

export const connectTimeoutMs = 3_000;

/** The connections of a command that calls its servers many times. */
interface Kept {
  /** By listening address; null: the command has ended. */
  links: Map<string, Link> | null;
}
const linkStorage = new AsyncLocalStorage<Kept>();

/** Runs `work` with one connection to each server, and closes them when it ends. */
export async function keepingConnections<Result>(work: () => Promise<Result>): Promise<Result> {
  const links = new Map<string, Link>();
  const held: Kept = { links };
  try {
    return await linkStorage.run(held, work);
  } finally {
    held.links = null;
    for (const link of links.values()) link.close();
  }
}

/**
 * Runs `work` on a connection to the server. If the server answers operators at another address,
 * runs the work again there: the refused call had no effect, and every message may be repeated.
 * Throws PEER_UNREACHABLE, PEER_UNPROVEN, WIRE_VERSION_UNKNOWN, and whatever `work` throws.
 */
export async function withServer<Result>(
  address: string,
  work: (server: Caller) => Promise<Result>,
): Promise<Result> {
  try {
    return await workAt(address, address, work);
  } catch (error) {
    const redirect = operatorAddress(error);
    if (redirect === null) throw error;
    return workAt(redirect, address, work);
  }
}

/** Adds a hint to the error of an unreachable server if the error has none. */
export function withHint(error: unknown, hint: string): unknown {
  if (!(error instanceof CodedError) || !isPeerCode(error.code) || error.hint !== '') return error;
  const { code, message, details } = error;
  return new CodedError(code, message, { hint, details, cause: error });
}

function operatorAddress(error: unknown): string | null {
  if (!(error instanceof CodedError) || error.code !== 'OPERATOR_ELSEWHERE') return null;
  const { address } = error.details;
  return typeof address === 'string' && isWholeAddress(address) ? address : null;
}

/** `address`: the one by which rings name the server that listens at `listen`. */
async function workAt<Result>(
  listen: string,
  address: string,
  work: (server: Caller) => Promise<Result>,
): Promise<Result> {
  const held = linkStorage.getStore();
  if (held?.links === null)
    throw new CodedError('PEER_UNREACHABLE', `${listen} is not contacted again`);
  const open = held?.links.get(listen);
  if (open?.connected) return work(await open.connect());
  const { proof, token, identity } = await credentialsFor(address);
  const link = new Link(listen, {
    handlers: new Map(),
    monotonicMs: () => performance.now(),
    connectTimeoutMs,
    proofOf: () => proof,
    token: () => token,
    identity,
    greet: (_, caller) => greetServer(caller, { address, timeoutMs: connectTimeoutMs }),
  });
  let isKept = false;
  try {
    const server = await link.connect();
    noteInsecure(address, 'unasked');
    isKept = keep(held?.links ?? null, listen, link);
    return await work(server);
  } finally {
    if (!isKept) link.close();
  }
}

/** Returns false outside keepingConnections, or if a concurrent call has connected already. */
function keep(links: Kept['links'], listen: string, link: Link): boolean {
  if (links === null || links.get(listen)?.connected) return false;
  links.get(listen)?.close();
  links.set(listen, link);
  return true;
}

/**
 * Servers asked at the same time. This limits the sockets: hundreds of servers take a few rounds.
 */
export const serversAtOnceMax = 32;
const tellEveryMs = 5_000;

/** Asks all servers, and prints how many it has asked if there are many and they take long. */
export async function fanOut<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const tell = items.length > serversAtOnceMax ? progressLines() : null;
  let asked = 0;
  const tellAsked = (): void => tell?.(`asked ${asked} of ${counted(items.length, 'server')}`);
  const timer = tell === null ? undefined : setInterval(tellAsked, tellEveryMs);
  try {
    return await mapConcurrent(items, serversAtOnceMax, (item) =>
      work(item).finally(() => {
        asked += 1;
      }),
    );
  } finally {
    clearInterval(timer);
  }
}
