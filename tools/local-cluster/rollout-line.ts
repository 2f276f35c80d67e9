// What a rollout says where no terminal is: its JSON lines of progress as sentences. Pure.
import { countAt, fieldAt } from './json-field.ts';
import type { JsonObject } from './ring-builder.ts';

/** In the order in which moves go through them; any other stage comes last. */
const stages = ['queued', 'reserving', 'copying', 'catching-up', 'verifying', 'available'];

/**
 * `version 4: joiners copy; 20 queued, 3 copying, 1 available; 0.4 MB copied`. Null for a line that
 * is no progress: it was meant for people.
 */
export function rolloutLine(line: string): string | null {
  const progress = progressOf(line);
  if (progress === null) return null;
  const moves = movesOf(progress);
  const found = [...new Set([...stages, ...moves.map(({ stage }) => stage)])];
  const counts = found.map((stage) => {
    return { stage, count: moves.filter((move) => move.stage === stage).length };
  });
  const bytes = moves.reduce((sum, move) => sum + move.bytes, 0);
  const finished = countAt(progress, 'finished');
  return [
    `version ${countAt(progress, 'version')}: ${String(fieldAt(progress, 'doing'))}`,
    counts
      .filter(({ count }) => count > 0)
      .map(({ stage, count }) => `${count} ${stage}`)
      .join(', '),
    bytes > 0 ? `${(bytes / 1e6).toFixed(1)} MB copied` : '',
    finished > 0 ? `${finished} finished` : '',
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function progressOf(line: string): JsonObject | null {
  if (!line.startsWith('{"event":"progress"')) return null;
  try {
    return JSON.parse(line) as JsonObject; // an object, since it begins like one
  } catch {
    return null;
  }
}

function movesOf(progress: JsonObject): { readonly stage: string; readonly bytes: number }[] {
  const moves = fieldAt(progress, 'moves');
  return (Array.isArray(moves) ? moves : []).map((move: JsonObject) => ({
    stage: String(fieldAt(move, 'stage')),
    bytes: countAt(move, 'bytes'),
  }));
}
