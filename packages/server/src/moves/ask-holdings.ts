// Asks other devices what they hold of partitions. The questions of one turn to a device travel in
// one message.
import { CodedError } from '@ringwright/base/coded-error';
import type { AnswerOf } from '@ringwright/wire/message';
import { digestPartitionsMax, digests } from '@ringwright/wire/replication';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { ActiveRing } from '../rings/active-ring.ts';

type Holding = AnswerOf<typeof digests>['holdings'][number];

interface Question {
  readonly partition: number;
  readonly resolve: (holding: Holding) => void;
  readonly reject: (error: unknown) => void;
}

interface Gathering {
  readonly active: ActiveRing;
  readonly device: number;
  readonly questions: Question[];
}

export class HoldingQuestions {
  readonly #devices: DeviceCaller;
  #gathering: Gathering[] = [];

  constructor(devices: DeviceCaller) {
    this.#devices = devices;
  }

  /**
   * Resolves to the device's holding at some time after this call; null: it has no file. Rejects
   * with what calls to devices reject with.
   */
  ask(active: ActiveRing, device: number, partition: number): Promise<Holding> {
    return new Promise((resolve, reject) => {
      this.#gatheringFor(active, device).questions.push({ partition, resolve, reject });
    });
  }

  #gatheringFor(active: ActiveRing, device: number): Gathering {
    const open = this.#gathering.find(
      (one) =>
        one.active === active &&
        one.device === device &&
        one.questions.length < digestPartitionsMax,
    );
    if (open !== undefined) return open;
    if (this.#gathering.length === 0) setImmediate(() => this.#send());
    const gathering: Gathering = { active, device, questions: [] };
    this.#gathering.push(gathering);
    return gathering;
  }

  #send(): void {
    const gathered = this.#gathering;
    this.#gathering = [];
    for (const one of gathered) void this.#sendOne(one);
  }

  async #sendOne({ active, device, questions }: Gathering): Promise<void> {
    const { keyspace, version: ringVersion } = active.ring;
    const partitions = questions.map(({ partition }) => partition);
    try {
      const request = { keyspace, ringVersion, partitions };
      const { holdings } = await this.#devices.call({ active, device }, digests, request);
      if (holdings.length !== partitions.length) {
        const [told, asked] = [holdings.length, partitions.length];
        throw new CodedError('PEER_FAILED', `d${device} told of ${told} partitions of ${asked}`);
      }
      for (const [index, { resolve }] of questions.entries()) resolve(holdings[index] ?? null);
    } catch (error) {
      for (const { reject } of questions) reject(error);
    }
  }
}
