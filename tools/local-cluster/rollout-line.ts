// Turns the progress of a rollout without a terminal, which is lines of JSON, into sentences. Pure.

interface Progress {
  readonly event: 'progress';
  readonly version: number;
  readonly doing: string;
  readonly moves: readonly { readonly stage: string; readonly bytes: number }[];
  readonly finished: number;
}

/** A sentence for people. */
interface Note {
  readonly event: 'note';
  readonly text: string;
}

/** In the order in which moves pass through them. Any other stage comes last. */
const stages = ['queued', 'reserving', 'copying', 'catching-up', 'verifying', 'available'];

/**
 * Returns `version 4: joiners copy; 20 queued, 3 copying, 1 available; 0.4 MB copied`. Returns null
 * for a line that is no event, which is meant for people.
 */
export function rolloutLine(line: string): string | null {
  const event = eventOf(line);
  if (event === null) return null;
  if (event.event === 'note') return event.text;
  const { version, doing, moves, finished } = event;
  const allStages = [...new Set([...stages, ...moves.map(({ stage }) => stage)])];
  const counts = allStages.map((stage) => {
    return { stage, count: moves.filter((move) => move.stage === stage).length };
  });
  const bytes = moves.reduce((sum, move) => sum + move.bytes, 0);
  // The files of a split are filled from their parents on the same device.
  const verb = doing.includes('filled') ? 'filled' : 'copied';
  return [
    `version ${version}: ${doing}`,
    counts
      .filter(({ count }) => count > 0)
      .map(({ stage, count }) => `${count} ${stage}`)
      .join(', '),
    bytes > 0 ? `${(bytes / 1e6).toFixed(1)} MB ${verb}` : '',
    finished > 0 ? `${finished} finished` : '',
  ]
    .filter((part) => part !== '')
    .join('; ');
}

function eventOf(line: string): Progress | Note | null {
  if (!/^\{"event":"(progress|note)"/.test(line)) return null;
  try {
    return JSON.parse(line) as Progress | Note; // printed by ring-builder, as its start shows
  } catch {
    return null;
  }
}
