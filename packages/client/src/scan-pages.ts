// The pages of a scan in order, with several of them requested ahead.
import { clientPagesAhead, clientPagesOfPartition } from '@ringwright/base/limits';

/** The pages of one partition, or of another part of the whole, from first to last. */
export type PartPages<Page> = AsyncGenerator<Page, void>;

/**
 * Yields the pages of all parts, one part after the other. Reads the next parts ahead, a few pages
 * each; `clientPagesAhead` bounds the pages kept or requested. Leaving the loop ends all parts.
 */
export async function* pagesAhead<Page>(parts: Iterator<PartPages<Page>>): PartPages<Page> {
  const open: ReadAhead<Page>[] = [];
  try {
    for (;;) {
      while (open.length < clientPagesAhead / clientPagesOfPartition) {
        const { value, done } = parts.next();
        if (done === true) break;
        open.push(new ReadAhead(value));
      }
      const first = open[0];
      if (first === undefined) return;
      const page = await first.next();
      if (page === null) open.shift();
      else yield page;
    }
  } finally {
    for (const part of open) part.stop();
  }
}

/** Requests pages as long as there is room, so that they are ready when needed. */
class ReadAhead<Page> {
  readonly #pages: PartPages<Page>;
  readonly #ready: Promise<Page | null>[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(pages: PartPages<Page>) {
    this.#pages = pages;
    for (let ahead = 0; ahead < clientPagesOfPartition; ahead += 1) this.#ask();
  }

  /** The next page; null at the end. */
  async next(): Promise<Page | null> {
    const page = await this.#ready.shift();
    if (page === undefined || page === null) return null;
    this.#ask();
    return page;
  }

  stop(): void {
    this.#stopped = true;
  }

  #ask(): void {
    const page = this.#last.then(async () => {
      if (this.#stopped) return null;
      const { value, done } = await this.#pages.next();
      return done === true ? null : value;
    });
    // The consumer of the page gets its error; a scan may end before that.
    page.catch(() => undefined);
    this.#last = page;
    this.#ready.push(page);
  }
}
