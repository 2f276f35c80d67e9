// The moves of later waves, as a section of a version's file: a rollout goes on from the head
// alone, in any copy of it, with the moves that the plan has shown. Servers pass over it. Pure.
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { laterMovesMax } from '@ringwright/base/limits-rings';
import { moveCount } from '@ringwright/builder/plan/later-waves';
import type { LaterWaves } from '@ringwright/builder/plan/plan';
import type { Section } from '@ringwright/ring/file/ring-manifest';
import { z } from 'zod';

const NAME = 'later-waves';

const whole = z.int().nonnegative();
/** Short, as there may be a million: partition, replica, from, to. */
const moveSchema = z.tuple([whole, whole, whole.nullable(), whole]);
const wavesSchema = z.array(z.array(moveSchema));

/** None when nothing is left. */
export function laterSections(later: LaterWaves): Section[] {
  if (later.length === 0) return [];
  assert(moveCount(later) <= laterMovesMax, `${moveCount(later)} moves are left`);
  const rows = later.map((wave) =>
    wave.map(({ partition, replica, from, to }) => [partition, replica, from, to]),
  );
  return [{ name: NAME, bytes: Buffer.from(JSON.stringify(rows)) }];
}

/** The section as it is. */
export function keptLaterSections(sections: readonly Section[]): Section[] {
  return sections.filter(({ name }) => name === NAME);
}

/** Empty without the section. Throws RING_FILE_INVALID. */
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
