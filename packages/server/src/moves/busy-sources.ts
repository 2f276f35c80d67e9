// Sources that had no place for one more copy: how many they give this device, and until when.
import type { LoadCandidate } from './choose-loads.ts';

interface Busy {
  /** Copies that it gives this device meanwhile. */
  readonly places: number;
  /** From then on it is asked for as many as before. */
  readonly untilMs: number;
}

interface FromSource extends LoadCandidate {
  readonly sourceName: string;
}

export class BusySources {
  readonly #busy = new Map<string, Busy>();

  /** It refused a copy while this device had `places` others of it. */
  refused(source: string, busy: Busy): void {
    this.#busy.set(source, busy);
  }

  /**
   * The same candidates, where those for which a source has no place wait for its time. As soon as
   * a copy of this device ends, its place is free for the next.
   * `candidates`: the most urgent first.
   */
  *withhold<Candidate extends FromSource>(
    candidates: Iterable<Candidate>,
    running: Iterable<Pick<FromSource, 'sourceName'>>,
    nowMs: number,
  ): Iterable<Candidate> {
    const free = this.#freePlaces(running, nowMs);
    for (const candidate of candidates) {
      const left = free.get(candidate.sourceName);
      if (left === undefined || candidate.paused || candidate.notBeforeMs > nowMs) {
        yield candidate;
        continue;
      }
      free.set(candidate.sourceName, left - 1);
      const untilMs = this.#busy.get(candidate.sourceName)?.untilMs ?? 0;
      yield left > 0 ? candidate : { ...candidate, notBeforeMs: untilMs };
    }
  }

  /** Of the sources that are busy now. */
  #freePlaces(
    running: Iterable<Pick<FromSource, 'sourceName'>>,
    nowMs: number,
  ): Map<string, number> {
    const free = new Map<string, number>();
    for (const [source, { places, untilMs }] of this.#busy) {
      if (untilMs > nowMs) free.set(source, places);
      else this.#busy.delete(source);
    }
    for (const { sourceName } of running) {
      const places = free.get(sourceName);
      if (places !== undefined) free.set(sourceName, places - 1);
    }
    return free;
  }
}
