// What to type when servers will not come back, as one line that a shell takes. Pure.

export function goneForGood(ring: string, devices: readonly number[]): string {
  const names = devices.map((id) => `d${id}`).join(' ');
  return [
    `ring-builder remove ${ring} ${names}`,
    `ring-builder commit ${ring} -m 'will not come back'`,
    `ring-builder rollout ${ring}`,
  ].join(' && ');
}
