// Reads the settings by which the components of a composite ring compute their shares.
import type { PartSettings } from '@ringwright/builder/analysis/component-parts';
import type { BuilderState, Component } from '@ringwright/builder/state/builder-state';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../../cli/command.ts';

interface KnownSettings {
  /** In the order of the components; null: only the weights are known. */
  readonly settings: readonly (PartSettings | null)[];
  /** Lines for people about components whose settings are unknown. */
  readonly lines: readonly string[];
}

/** Returns empty lists for a ring without components. */
export async function partSettings(
  { rings }: Pick<Context, 'rings'>,
  { components = [] }: BuilderState,
): Promise<KnownSettings> {
  const settings = await Promise.all(components.map((one) => settingsOf(rings, one)));
  const unknown = components.filter((_, at) => settings[at] === null);
  const lines = unknown.map(
    ({ ring, version }) =>
      `only the weights of ${ring} version ${version} are known here; its settings may override them`,
  );
  return { settings, lines };
}

/** Returns null for placement by tokens, because a composite ring does not know them. */
async function settingsOf(
  rings: string,
  { ring, version, id }: Component,
): Promise<PartSettings | null> {
  const stored = await readVersion(rings, ring, version).catch(() => null);
  if (stored === null || stored.id !== id || stored.state === null) return null;
  const { overload, zonesMin, placement } = stored.state;
  if (placement === 'tokens') return null;
  return { overload, ...(zonesMin !== undefined && { zonesMin }) };
}
