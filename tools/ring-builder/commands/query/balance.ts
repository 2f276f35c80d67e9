// ring-builder balance: compares shares with the slots held, by tier and device.

import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { ringFigures } from '@ringwright/builder/analysis/figures';
import { handoffFigures } from '@ringwright/builder/placement/handoff-spread';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { type TierKind, tierKinds, tierNamesById } from '@ringwright/builder/state/tier-name';
import { stateOf } from '@ringwright/repository/folder/read-version';
import type { Command } from '../../cli/command.ts';
import { askedVersion, versionPositional } from '../../versions/version-reference.ts';
import { partSettings } from './part-settings.ts';

const ROWS_SHOWN_MAX = 60;

interface BalanceRow {
  readonly tier: TierKind;
  readonly name: string;
  readonly share: number;
  readonly slots: number;
  /** Slots above the share; negative: below it. */
  readonly off: number;
}

export const command: Command = {
  positionals: versionPositional,
  examples: [['$0 balance cities', 'how far each tier and device is from its exact share']],
  run: async (args, context) => {
    const name = args.text('ring');
    const stored = await askedVersion(args, context);
    const { version } = stored.ring;
    const state = stateOf(stored);
    const known = await partSettings(context, state);
    const { balance, tiers, devices, spread } = ringFigures(stored.ring, state, known.settings);
    const rows = tierKinds.flatMap((tier): BalanceRow[] => {
      const names = tierNamesById(state.devices, tier);
      const found =
        tier === 'device'
          ? devices.map(({ id, slots, share }) => ({ device: id, slots, share }))
          : tiers.filter((one) => one.tier === tier);
      return found.map(({ device, slots, share }) => {
        return { tier, name: names[device] ?? '', share, slots, off: slots - share };
      });
    });
    const even = balance.worstSlots < 1 && balance.worstTierSlots < 1;
    const within = even && balance.slotsToClear === 0;
    const handoffs = handoffFigures(stored.ring);
    const pairs =
      spread === null
        ? []
        : [
            `shared partitions of two devices have ${spread.variance.toFixed(2)} of the ` +
              `variance of a random table; every device shares with ${(100 * spread.leastWidth).toFixed(0)} % of the others or more`,
          ];
    return {
      json: { ring: name, version, balanced: within, balance, spread, handoffs, rows },
      lines: [
        `${name} version ${version}: ${within ? 'every tier and device is' : 'not all are'} ` +
          `within one slot of the exact share${state.components === undefined ? '' : ' that its component gives'}`,
        ...known.lines,
        `worst device d${balance.worstDevice}: ${balance.worstSlots.toFixed(2)} slots off; ` +
          `worst tier: ${balance.worstTierSlots.toFixed(2)}`,
        balance.slotsToClear > 0 &&
          `${counted(balance.slotsToClear, 'slot is', 'slots are')} on devices that should have none`,
        ...pairs,
        handoffs !== null &&
          `if one device is down, at most ${(100 * handoffs.mostOnOne).toFixed(0)} % of its ` +
            `partitions use the same handoff; ${handoffs.fewestStandIns} or more handoffs share them`,
        '',
        ...printTable(rows.slice(0, ROWS_SHOWN_MAX), [
          { head: 'TIER', cell: ({ tier }) => tier },
          { head: 'NAME', cell: (row) => row.name },
          { head: 'SHARE', cell: ({ share }) => Number(share.toFixed(3)) },
          { head: 'SLOTS', cell: ({ slots }) => slots },
          { head: 'OFF', cell: ({ off }) => Number(off.toFixed(3)) },
        ]),
        rows.length > ROWS_SHOWN_MAX && `… ${rows.length} rows in all: --json`,
      ],
      next: context.next(within ? `dispersion ${name}` : whereToLook(state)),
    };
  },
};

/** The balance of a composite ring is decided by its components. */
function whereToLook({ ring, components }: BuilderState): string {
  return components === undefined ? `plan ${ring}` : `balance ${components[0]?.ring}`;
}
