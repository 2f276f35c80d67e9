// ring-builder show: shows one version: settings, devices, figures.

import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { ringFigures } from '@ringwright/builder/analysis/figures';
import { slotsPerDevice } from '@ringwright/builder/plan/plan-devices';
import { makesVersion } from '@ringwright/repository/folder/log-entry';
import { stagedChangesOf } from '@ringwright/repository/folder/staged-section';
import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';
import { partitionerSettings } from '@ringwright/ring/partitioner/partitioner-settings';
import { slotTotal } from '@ringwright/ring/ring';
import type { Command } from '../../cli/command.ts';
import { nameDevice } from '../../versions/device-reference.ts';
import { pinLines } from '../../versions/pins.ts';
import { askedVersion, versionPositional } from '../../versions/version-reference.ts';
import { madeLines } from '../../versions/version-story.ts';

export const command: Command = {
  positionals: versionPositional,
  examples: [
    ['$0 show cities', 'the head'],
    ['$0 show cities @~1 --json', 'the version before it'],
  ],
  run: async (args, context) => {
    const name = args.text('ring');
    const storedVersion = await askedVersion(args, context);
    const { ring, id, bytes, state, extraSections, entries } = storedVersion;
    const { version } = ring;
    const entry = entries.find((one) => makesVersion(one) && one.version === version);
    const { cluster, parent, partitioner, replicas, moves } = ring;
    const partitions = liveCountOf(partitioner);
    const counts = slotsPerDevice(ring.table, ring.devices.length);
    const devices = ring.devices
      .filter((device) => device !== null)
      .map((device) => ({ ...device, slots: counts[device.id] ?? 0 }));
    const slots = slotTotal(ring);
    const figures = state === null ? null : ringFigures(ring, state);
    const staged = stagedChangesOf(extraSections);
    const settings =
      state === null ? null : { minPartHours: state.minPartHours, overload: state.overload };
    return {
      json: {
        ring: name,
        version,
        id,
        parent,
        cluster,
        partitioner: partitionerSettings(partitioner),
        partitions,
        replicas,
        slots,
        inFlight: moves.length,
        bytes: bytes.length,
        devices,
        settings,
        pins: state?.pins ?? [],
        balance: figures?.balance ?? null,
        dispersion: figures?.dispersion ?? null,
        spread: figures?.spread ?? null,
        entry,
        staged,
      },
      lines: [
        `${name} version ${version}, id ${id}`,
        `parent ${parent ?? 'none'}, cluster ${cluster}, ${bytes.length} bytes`,
        `${partitioner.kind}, ${counted(partitions, 'partition')} x ${counted(replicas, 'replica')} = ${counted(slots, 'slot')}`,
        ...(entry === undefined ? [] : madeLines(entry, { staged, state })),
        `${counted(moves.length, 'move')} in flight`,
        settings !== null &&
          `min-part-hours ${settings.minPartHours}, overload ${settings.overload}`,
        ...pinLines(state ?? {}, (partition) => context.next(`unpin ${name} ${partition}`)),
        figures !== null &&
          `worst device ${figures.balance.worstSlots.toFixed(2)} slots off its share`,
        '',
        ...printTable(devices, [
          { head: 'DEVICE', cell: nameDevice },
          { head: 'WEIGHT', cell: ({ weight }) => weight },
          { head: 'SLOTS', cell: (device) => device.slots },
        ]),
      ],
      quotes: true,
      next: context.next(version > 1 ? `diff ${name} ${version - 1} ${version}` : `log ${name}`),
    };
  },
};
