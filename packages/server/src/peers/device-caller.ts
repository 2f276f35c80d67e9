// Calls the devices of a ring: this device answers itself without a socket, the others over their
// connections.
import { must } from '@ringwright/base/assert';
import { peerCallTimeoutMs } from '@ringwright/base/limits';
import { type Callback, type MaybePromise, tryCall } from '@ringwright/base/maybe-promise';
import { formatAddress } from '@ringwright/base/server-address';
import { addressFor, type Purpose } from '@ringwright/ring/device';
import type { Caller, CallHandler } from '@ringwright/wire/call-channel';
import type { AnswerOf, MessageKind, RequestOf } from '@ringwright/wire/message';
import { recordsWrite, recordWrite } from '@ringwright/wire/records';
import type { z } from 'zod';
import type { ActiveRing } from '../rings/active-ring.ts';
import { WriteBatches } from './write-batches.ts';

export interface DeviceTarget {
  readonly active: ActiveRing;
  readonly device: number;
  /** Default: peerCallTimeoutMs. */
  readonly timeoutMs?: number;
}

export interface DeviceCaller {
  /**
   * Calls a device of the ring by id. This device may return its answer synchronously. Rejects with
   * the device's CodedError or a PEER_ one.
   */
  call<Request extends z.ZodType, Answer extends z.ZodType>(
    to: DeviceTarget,
    kind: MessageKind<Request, Answer>,
    request: z.infer<Request>,
  ): MaybePromise<z.infer<Answer>>;

  /**
   * Like `call` of recordWrite, but with a callback instead of a promise, for the path of every
   * write. Calls `onResult` once, perhaps in this turn. Throws nothing.
   */
  write(to: DeviceTarget, request: WriteRequest, onResult: WriteCallback): void;
}

export type WriteRequest = RequestOf<typeof recordWrite>;
export type WriteAnswer = AnswerOf<typeof recordWrite>;
/** Receives a device's result of a write: its answer, or else the error. */
export type WriteCallback = (device: number, answer: WriteAnswer | null, error: unknown) => void;

export type OwnWrite = (request: WriteRequest, onResult: Callback<WriteAnswer>) => void;

interface CallerPorts {
  readonly purpose: Purpose;
  readonly peers: { connect(address: string): Caller };
  readonly handlers: ReadonlyMap<string, CallHandler>;
  /** Whether the server at this address accepts many writes in one message. */
  readonly takesMany: (address: string) => boolean;
  /** Writes of this device to itself. */
  readonly ownWrite: OwnWrite;
}

/** The caller that a device's own handlers see: it has no newer ring to fetch. */
export const ownCaller: Caller = {
  call: () => Promise.reject(new Error('a device does not call itself back')),
};

/** `devices`: for copies and repair, which may use other addresses than requests. */
export function deviceCallers(
  ports: Omit<CallerPorts, 'purpose' | 'ownWrite'>,
  ownWrite: OwnWrite,
): { readonly devices: DeviceCaller; readonly forRequests: DeviceCaller } {
  const both = { ...ports, ownWrite };
  return {
    devices: deviceCaller({ ...both, purpose: 'replication' }),
    forRequests: deviceCaller({ ...both, purpose: 'requests' }),
  };
}

function deviceCaller({ purpose, peers, handlers, ...writing }: CallerPorts): DeviceCaller {
  const addressIn = ({ ring }: ActiveRing, device: number): string =>
    formatAddress(addressFor(purpose, must(ring.devices[device], `no device ${device} there`)));
  // Not async, and answers are passed on as they are: every request passes through here.
  const call: DeviceCaller['call'] = (to, kind, request) => {
    const { active, device, timeoutMs = peerCallTimeoutMs } = to;
    if (device === active.self) {
      const handler = must(handlers.get(kind.method), `no handler of '${kind.method}'`);
      const answer = tryCall(() => handler.answer(request, ownCaller));
      // The handler of a message kind returns an answer of that kind.
      return answer as MaybePromise<z.infer<typeof kind.answer>>;
    }
    return peers.connect(addressIn(active, device)).call(kind, request, timeoutMs);
  };
  const { takesMany, ownWrite } = writing;
  const batches = new WriteBatches({
    one: (address, request) => peers.connect(address).call(recordWrite, request, peerCallTimeoutMs),
    many: (address, request) =>
      peers.connect(address).call(recordsWrite, request, peerCallTimeoutMs),
    takesMany,
    defer: (work) => void setImmediate(work),
  });
  return {
    call,
    write({ active, device }, request, onResult) {
      const tell: Callback<WriteAnswer> = (answer, error) => onResult(device, answer, error);
      if (device === active.self) ownWrite(request, tell);
      else batches.add(addressIn(active, device), request, tell);
    },
  };
}
