// ring-builder search: lists the devices that a selector matches, staged changes included.
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { quoteCommand } from '@ringwright/base/quote-command';
import { slotsPerDevice } from '@ringwright/builder/plan/plan-devices';
import type { BuilderDevice, BuilderState } from '@ringwright/builder/state/builder-state';
import { stagedState } from '@ringwright/repository/folder/builder-file';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import type { Command } from '../../cli/command.ts';
import { nameDevice, searched, selectedDevices } from '../../versions/device-reference.ts';
import { selectorForm } from '../../versions/device-selector.ts';

export const command: Command = {
  positionals: {
    devices: { describe: 'a selector; several words select the devices of all of them' },
  },
  about: `A selector: ${selectorForm}. Every command that takes devices accepts selectors.`,
  examples: [
    ['$0 search cities r1z2', 'the devices of a zone'],
    ['$0 search cities @10.0.0.1,weight=0', 'the drained devices of a server'],
    ['$0 search cities sdb meta=rack7', 'devices named sdb, and devices with rack7 in their meta'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const opened = await openRing(context.rings, ring);
    const state = stagedState(opened);
    const words = args.texts('devices');
    const found = devicesOf(state, words);
    const head = opened.head === null ? null : await readVersion(context.rings, ring, 'head');
    const slots = slotsPerDevice(head?.ring.table ?? [], state.devices.length);
    const devices = found.map((device) => ({ ...device, slots: slots[device.id] ?? 0 }));
    return {
      json: { ring, selectors: words, devices },
      lines: [
        ...printTable(devices, [
          { head: 'DEVICE', cell: nameDevice },
          { head: 'WEIGHT', cell: ({ weight }) => weight },
          { head: 'SLOTS', cell: (device) => device.slots },
          { head: 'STATE', cell: ({ state: is, hold }) => hold ?? is },
          { head: 'META', cell: ({ meta }) => meta },
        ]),
        `${counted(devices.length, 'device')} of ${ring}`,
      ],
      exit: devices.length === 0 ? 1 : 0,
      next: context.next(
        devices.length === 0 || head === null
          ? `status ${ring}`
          : `list-parts ${ring} ${quoteCommand(words)}`,
      ),
    };
  },
};

/** Returns each device once, by id. */
function devicesOf(state: BuilderState, words: readonly string[]): BuilderDevice[] {
  const ids = new Set(words.flatMap((word) => searched(state, word).map(({ id }) => id)));
  return selectedDevices(state, ({ id }) => ids.has(id));
}
