// What the opening of a store is doing: of 65,536 partitions, each step may take a minute.

export interface StartStep {
  /** The work, as the server's log names it. */
  readonly doing: string;
  /** Partitions that it has dealt with. */
  readonly done: number;
  readonly partitions: number;
}

export type OnStep = (step: StartStep) => void;
