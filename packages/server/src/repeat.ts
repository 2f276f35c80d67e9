// Work done again and again, with a pause between the runs.

/** The function returned ends it and waits for the run under way. */
export function repeat(work: () => Promise<void>, pauseMs: number): () => Promise<void> {
  let ended = false;
  let wake: () => void = () => undefined;
  const loop = async (): Promise<void> => {
    while (!ended) {
      await work();
      if (ended) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const running = loop();
  return async () => {
    ended = true;
    wake();
    await running;
  };
}
