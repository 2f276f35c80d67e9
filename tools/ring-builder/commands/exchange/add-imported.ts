// The common part of every import: audits the ring, adds its folder, and reports the result.
import { counted } from '@ringwright/base/counted';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { ImportedRing } from '@ringwright/builder/state/import-json';
import { addRing } from '@ringwright/repository/add-ring';
import { requireSound } from '@ringwright/ring/audit/audit-ring';
import { slotTotal } from '@ringwright/ring/ring';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import type { Answer, Context } from '../../cli/command.ts';
import { ringKey, trustOf } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-command.ts';

export async function addImported(
  context: Context,
  imported: ImportedRing,
  source: { readonly file: string; readonly kind: string },
): Promise<Answer> {
  const { ring, state, warnings } = imported;
  const { ring: name } = state;
  if (ring !== null) {
    const hint = `${source.file} was read completely, but its ring cannot be used here`;
    requireSound(ring, hint, { file: source.file });
  }
  const trust = await trustOf(context);
  const key = trust?.root.cluster === state.cluster ? await ringKey(context) : undefined;
  const signing = trust === null || key === undefined ? null : { trust, key };
  const devices = state.devices.filter((device) => device !== null).length;
  const head = await addRing(context.rings, {
    ring,
    state,
    command: context.command,
    entry: {
      ...authorOf(context),
      message: `imported from ${source.file}`,
      figures: { devices },
      details: { source: source.kind },
    },
    signing,
  });
  const slots = ring === null ? 0 : slotTotal(ring);
  return {
    json: {
      ring: name,
      source: source.kind,
      version: head?.version ?? null,
      id: head?.id ?? null,
      partitioner: state.partitioner,
      replicas: state.replicas,
      minPartHours: state.minPartHours,
      overload: state.overload,
      devices,
      slots,
      warnings,
      signed: head !== null && signing !== null,
      changed: true,
    },
    lines: [
      ...warnings.map(({ code, message }) => `warning ${code}: ${message}`),
      head === null
        ? `imported ${name} from a ${source.kind}: ${counted(devices, 'device')}, nothing placed yet`
        : `imported ${name} from a ${source.kind} as version 1 (${head.id.slice(0, 12)}): ` +
          `${counted(slots, 'slot')} on ${counted(devices, 'device')}, each where it was`,
      !(head === null || trust === null || signing !== null) && unsignedLine(context, state, trust),
    ],
    next: context.next(`${head === null ? 'plan' : 'show'} ${name}`),
  };
}

/** Says why the ring is unsigned in a folder of signed rings, and how to sign it. */
function unsignedLine(context: Context, { ring, cluster }: BuilderState, { root }: Trust): string {
  if (root.cluster !== cluster) {
    return (
      `not signed: it is of cluster '${cluster}', the keys of this folder are of cluster ` +
      `'${root.cluster}'; import it into another folder (--rings DIR), or again with the right --cluster`
    );
  }
  const commit = context.next(`commit ${ring} -m "signed from here on"`);
  return `not signed, because no ring key is here; it cannot be pushed. With a ring key, run ${commit}`;
}
