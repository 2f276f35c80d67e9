// A guard that admits every caller, as on a server without an access document, or that checks one.
import type { Access } from '@ringwright/access/open-access';
import { Guard } from '@ringwright/server/access/guard';

export function openGuard(access: Access | null = null): Guard {
  return new Guard({
    access: () => access,
    isStrict: false,
    operatorListen: null,
    certified: () => null,
    nowMs: () => 0,
    onRefusal: () => undefined,
  });
}
