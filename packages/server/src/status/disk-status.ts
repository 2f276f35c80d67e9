// The disk of this device, as the status and the metrics show it.
import type { StatusPorts } from './status.ts';

/** `unwritable`: why partitions take no writes, or why writes get no stamp here; null: neither. */
export async function diskStatus({ store, clocks }: Pick<StatusPorts, 'store' | 'clocks'>) {
  const disk = await store.disk.free();
  return { ...disk, unwritable: disk.unwritable ?? clocks.stamps.unsaved };
}
