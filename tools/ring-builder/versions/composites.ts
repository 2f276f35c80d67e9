// Finds the composite rings of the folder that contain a ring as a component.
import type {
  BuilderDevice,
  BuilderState,
  Component,
} from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { placeOf } from '@ringwright/builder/state/component-devices';
import { changeCommand } from '@ringwright/builder/state/composition';
import { readRegularText } from '@ringwright/node/read-regular-file';
import { parseBuilderFile } from '@ringwright/repository/folder/builder-file';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';

export interface Composite {
  readonly state: BuilderState;
  /** The ring as a component of the composite ring. */
  readonly component: Component;
}

/** Skips unreadable rings, which report their own errors. */
export async function compositesOf(rings: string, ring: string): Promise<readonly Composite[]> {
  const names = (await listRings(rings)).filter((name) => name !== ring);
  const states = await Promise.all(names.map((name) => compositeState(rings, name)));
  return states.flatMap((state) => {
    const component = state?.components?.find((one) => one.ring === ring);
    return state === null || component === undefined ? [] : [{ state, component }];
  });
}

/** Parses only files that mention components, because most rings are not composite. */
async function compositeState(rings: string, name: string): Promise<BuilderState | null> {
  const text = await readRegularText(ringFolder(rings, name).builder).catch(() => '');
  if (!text.includes('"components"')) return null;
  const file = parseBuilderFile(text);
  return typeof file === 'string' ? null : file.state;
}

/**
 * Returns the command that brings the version to a composite ring, for Context.next; null if all
 * have it.
 */
export function composedAnew(composites: readonly Composite[], version: number): string | null {
  const outdated = composites.find(({ component }) => component.version < version);
  return outdated === undefined ? null : changeCommand(outdated.state);
}

/**
 * For devices that are to join the ring: says which other component has them, and what to do first.
 */
export async function sharedLines(
  rings: string,
  ring: string,
  changes: readonly Change[],
): Promise<string[]> {
  const joining = new Set(
    changes.flatMap((one) => (one.kind === 'add' ? [placeOf(one.device)] : [])),
  );
  if (joining.size === 0) return [];
  return (await compositesOf(rings, ring)).flatMap(({ state, component }) =>
    state.devices.flatMap((device) => {
      const isHeld = device?.state === 'active' && device.weight > 0;
      if (!isHeld || !joining.has(placeOf(device))) return [];
      const owner = state.components?.find(({ devices }) => devices.includes(device.id));
      return owner === undefined || owner === component ? [] : [sharedLine(state, owner, device)];
    }),
  );
}

function sharedLine(state: BuilderState, owner: Component, device: BuilderDevice): string {
  const ownName = `d${owner.devices.indexOf(device.id)}`;
  const first = [
    `ring-builder remove ${owner.ring} ${ownName}`,
    `ring-builder commit ${owner.ring} -m TEXT`,
    `ring-builder ${changeCommand(state)}`,
    `ring-builder rollout ${state.ring}`,
  ];
  const placeText = `${placeOf(device)} is ${ownName} of ${owner.ring}`;
  return `${placeText}, but ${state.ring} can use it from only one ring: before the commit, run ${first.join(' && ')}`;
}
