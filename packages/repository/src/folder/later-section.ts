// The moves of later waves, as a section of a version's file. With it a rollout can continue from
// any copy of the head, with the moves that the plan has shown. Servers ignore it. Pure.
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { laterMovesMax } from '@ringwright/base/limits-rings';
import { moveCount } from '@ringwright/builder/plan/later-waves';
import type { LaterWaves } from '@ringwright/builder/plan/plan';
import type { Section } from '@ringwright/ring/file/ring-manifest';
import { z } from 'zod';

const NAME = 'later-waves';

const wholeNumber = z.int().nonnegative();
/** Partition, replica, from, to. Compact, because there may be a million moves. */
const moveSchema = z.tuple([wholeNumber, wholeNumber, wholeNumber.nullable(), wholeNumber]);
const wavesSchema = z.array(z.array(moveSchema));

/** Returns no section if no moves are left. */
export function laterSections(later: LaterWaves): Section[] {
  if (later.length === 0) return [];
  assert(moveCount(later) <= laterMovesMax, `${moveCount(later)} moves are left`);
  const rows = later.map((wave) =>
    wave.map(({ partition, replica, from, to }) => [partition, replica, from, to]),
  );
  return [{ name: NAME, bytes: Buffer.from(JSON.stringify(rows)) }];
}

/** Returns the section unchanged. */
export function keptLaterSections(sections: readonly Section[]): Section[] {
  return sections.filter(({ name }) => name === NAME);
}

/** Returns an empty list without the section. Throws RING_FILE_INVALID. */
export function laterWavesOf(sections: readonly Section[]): LaterWaves {
  const section = sections.find(({ name }) => name === NAME);
  if (section === undefined) return [];
  const rows = parseRows(Buffer.from(section.bytes).toString());
  return rows.map((wave) =>
    wave.map(([partition, replica, from, to]) => ({ partition, replica, from, to })),
  );
}

function parseRows(text: string): z.infer<typeof wavesSchema> {
  try {
    return wavesSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CodedError('RING_FILE_INVALID', `section ${NAME} lists no moves`, { cause });
  }
}
