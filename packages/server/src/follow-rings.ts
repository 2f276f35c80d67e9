// Where a server looks for new ring versions besides its peers: files, a folder, a head store.
import type { Logger } from 'pino';
import type { ServerOptions } from './options.ts';
import type { ActiveRing } from './rings/active-ring.ts';
import { followRingFiles } from './rings/ring-files.ts';
import { followHeads } from './rings/ring-heads.ts';

/** Follows the ring files and heads that the options name. Returns a function that stops it. */
export async function followRings(
  { rings: folder, ring: files, store, storeAccess: access }: ServerOptions,
  adopt: (bytes: Uint8Array) => Promise<ActiveRing>,
  log: Logger,
): Promise<() => void> {
  const stopHeads =
    store === undefined
      ? () => undefined
      : followHeads(
          {
            adopt,
            onRefusal: (ring, error) => log.warn({ ring, error }, 'published ring refused'),
            onTrouble: (error) => log.warn({ store, error }, 'the head store cannot be reached'),
          },
          { url: store, access },
        );
  const onRefusal = (file: string, error: unknown): void =>
    log.warn({ file, error }, 'ring file refused');
  const stopFiles = await followRingFiles({ adopt, onRefusal }, { folder, files });
  return () => {
    stopHeads();
    stopFiles();
  };
}
