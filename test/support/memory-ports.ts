// Two ends of a connection in memory, with a clock that the test advances: for channels without
// sockets.
import { CallChannel, type CallHandler } from '@ringwright/wire/call-channel';

export class ManualClock {
  #now = 0;
  #deferred: (() => void)[] = [];
  #timers = new Set<{ readonly at: number; readonly work: () => void }>();

  readonly defer = (work: () => void): void => {
    this.#deferred.push(work);
  };

  readonly after = (ms: number, work: () => void): (() => void) => {
    const timer = { at: this.#now + ms, work };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  get timers(): number {
    return this.#timers.size;
  }

  /** Runs the deferred work and what it defers in turn, with time for promises in between. */
  async flush(): Promise<void> {
    do {
      for (const work of this.#deferred.splice(0)) work();
      // Promises that depend on each other need a few turns.
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    } while (this.#deferred.length > 0);
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
      timer.work();
    }
    await this.flush();
  }
}

interface PortEnd {
  readonly channel: CallChannel;
  /** Frames that this end has sent. */
  readonly frames: Uint8Array[];
  /** Errors without a code of the handlers of this end. */
  readonly bugs: unknown[];
  /** Bytes of the calls that this end is answering. */
  answeringBytes: number;
  /** The result of `queuedBytes`. */
  queuedBytes: number;
  /** The result of `arrivingBytes`. */
  arrivingBytes: number;
  /** False: frames are not delivered, as on a broken connection. */
  connected: boolean;
}

/** Creates two channels whose frames reach each other at once. */
export function channelPair(
  clock: ManualClock,
  [here, there]: readonly [ReadonlyMap<string, CallHandler>, ReadonlyMap<string, CallHandler>],
): readonly [PortEnd, PortEnd] {
  const make = (
    name: string,
    handlers: ReadonlyMap<string, CallHandler>,
    other: () => PortEnd,
  ): PortEnd => {
    const end: PortEnd = {
      frames: [],
      bugs: [],
      queuedBytes: 0,
      arrivingBytes: 0,
      answeringBytes: 0,
      connected: true,
      channel: new CallChannel(
        {
          peer: name,
          onBug: (error) => end.bugs.push(error),
          defer: clock.defer,
          after: clock.after,
          queuedBytes: () => end.queuedBytes,
          arrivingBytes: () => end.arrivingBytes,
          answering: (bytes) => {
            end.answeringBytes += bytes;
          },
          send: (frame) => {
            end.frames.push(frame);
            if (end.connected) other().channel.receive(frame);
          },
        },
        handlers,
      ),
    };
    return end;
  };
  const a: PortEnd = make('there', here, () => b);
  const b: PortEnd = make('here', there, () => a);
  return [a, b];
}
