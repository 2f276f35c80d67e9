// One request to several servers: the next is asked when one fails or is slow. The first answer
// wins. Only for requests that change nothing: reads, and connections.
import { mostSpecificFailure } from './failure-kind.ts';

interface Request<Answer> {
  readonly addresses: readonly string[];
  readonly ask: (address: string) => Promise<Answer>;
  readonly hedgeMs: number;
  /** Called for a server that took longer than hedgeMs. */
  readonly onSlow: (address: string) => void;
  /** False when another server would fail in the same way. */
  readonly mayHelp: (error: unknown) => boolean;
}

/**
 * Rejects when no server is left, preferably with a server's answer rather than a broken
 * connection. Rejects at once with a failure that every other server would repeat.
 */
export function hedgedRequest<Answer>(request: Request<Answer>): Promise<Answer> {
  const { addresses, ask, hedgeMs, onSlow, mayHelp } = request;
  return new Promise((resolve, reject) => {
    let next = 0;
    let openCount = 0;
    let isDone = false;
    let failure: unknown = null;
    const end = (finish: () => void): void => {
      isDone = true;
      finish();
    };
    const askNext = (): void => {
      const address = addresses[next];
      if (isDone || address === undefined) return;
      next += 1;
      openCount += 1;
      const hedge = setTimeout(() => {
        onSlow(address);
        askNext();
      }, hedgeMs);
      ask(address).then(
        (answer) => {
          clearTimeout(hedge);
          end(() => resolve(answer));
        },
        (error: unknown) => {
          clearTimeout(hedge);
          openCount -= 1;
          if (isDone) return;
          failure = mostSpecificFailure(failure, error);
          if (!mayHelp(error)) end(() => reject(error as Error));
          else if (next < addresses.length) askNext();
          else if (openCount === 0) end(() => reject(failure as Error));
        },
      );
    };
    askNext();
  });
}
