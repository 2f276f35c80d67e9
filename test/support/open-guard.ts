// A guard that admits every caller, as on a server without an access document.
import { Guard } from '@ringwright/server/access/guard';

export function openGuard(): Guard {
  return new Guard({
    access: () => null,
    isStrict: false,
    operatorListen: null,
    certified: () => null,
    nowMs: () => 0,
    onRefusal: () => undefined,
  });
}
