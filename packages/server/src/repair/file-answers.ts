// This device's answer about its own files: whether they are still those of its directory.
import type { CodedError } from '@ringwright/base/coded-error';
import { shortened } from '@ringwright/base/shortened';
import { damageCharactersMax, damagedFilesMax, type filesLook } from '@ringwright/wire/files';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { Scrubber } from './scrubber.ts';

/** What the look found, and what was damaged before it and is not replaced yet. */
export async function answerFilesLook(
  scrubber: Pick<Scrubber, 'look' | 'damaged'>,
  { keyspace }: RequestOf<typeof filesLook>,
): Promise<AnswerOf<typeof filesLook>> {
  const { lost, log } = await scrubber.look();
  const found = new Map<number, CodedError>();
  for (const one of [...scrubber.damaged(), ...lost]) {
    if (one.keyspace === keyspace) found.set(one.partition, one.error);
  }
  const told = [...found].slice(0, damagedFilesMax);
  return {
    damaged: told.map(([partition, { message }]) => ({
      partition,
      reason: shortened(message, damageCharactersMax),
    })),
    count: found.size,
    log: log === null ? null : shortened(log.message, damageCharactersMax),
  };
}
