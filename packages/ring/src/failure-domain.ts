// A position among the failure domains, and the distance of a device from it. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Device } from './device.ts';

export interface FailureDomain {
  readonly region: number;
  /** Null: anywhere in the region. */
  readonly zone: number | null;
}

const PLACE = /^r(\d{1,9})(?:z(\d{1,9}))?$/;

/** Parses a place as in selectors: `r1z2`, or `r1` for a whole region. Throws USAGE. */
export function parseFailureDomain(text: string): FailureDomain {
  const [, region, zone] = PLACE.exec(text) ?? [];
  if (region === undefined) {
    throw new CodedError('USAGE', `${JSON.stringify(text.slice(0, 64))} is not a region or zone`, {
      hint: 'write a zone as r1z2, a region as r1',
    });
  }
  return { region: Number(region), zone: zone === undefined ? null : Number(zone) };
}

/** Returns 0 in the same zone, 1 in the same region, 2 elsewhere. */
export function distance(
  from: FailureDomain,
  { region, zone }: Pick<Device, 'region' | 'zone'>,
): number {
  if (region !== from.region) return 2;
  return from.zone === null || zone === from.zone ? 0 : 1;
}
