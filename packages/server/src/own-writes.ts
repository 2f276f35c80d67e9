// This device's writes to itself: counted and timed as those of others, without a promise.
import type { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import { ownCaller, type WriteAnswer, type WriteRequest } from './peers/device-caller.ts';
import { type ReplicaPorts, writeHere } from './replica/replica.ts';
import type { RingRequests } from './rings/ring-requests.ts';

interface OwnPorts {
  readonly replica: ReplicaPorts;
  readonly requests: RingRequests;
  readonly throttle: AdaptiveThrottle;
}

type OwnWrite = (
  request: WriteRequest,
  onAnswer: (answer: WriteAnswer | null, error: unknown) => void,
) => void;

export function ownWrites({ replica, requests, throttle }: OwnPorts): OwnWrite {
  return (request, onAnswer) => {
    const endTimed = throttle.begin();
    requests.begin('answered', request);
    const end = (answer: WriteAnswer | null, error: unknown): void => {
      requests.end('answered', request);
      endTimed();
      onAnswer(answer, error);
    };
    try {
      writeHere(replica, { request, caller: ownCaller }, end);
    } catch (error) {
      end(null, error);
    }
  };
}
