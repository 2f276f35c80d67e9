// The writes of this device to itself: counted and timed like those of other devices, but without a
// promise.
import type { Callback } from '@ringwright/base/maybe-promise';
import type { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import { type OwnWrite, ownCaller, type WriteAnswer } from './peers/device-caller.ts';
import { answerWriteFor, type ReplicaPorts } from './replica/replica.ts';
import type { RingRequests } from './rings/ring-requests.ts';

interface OwnPorts {
  readonly replica: ReplicaPorts;
  readonly requests: RingRequests;
  readonly throttle: AdaptiveThrottle;
}

export function ownWrites({ replica, requests, throttle }: OwnPorts): OwnWrite {
  return (request, onAnswer) => {
    const endTimed = throttle.begin();
    requests.begin('answered', request);
    const end: Callback<WriteAnswer> = (answer, error) => {
      requests.end('answered', request);
      endTimed();
      onAnswer(answer, error);
    };
    try {
      answerWriteFor(replica, { request, caller: ownCaller }, end);
    } catch (error) {
      end(null, error);
    }
  };
}
