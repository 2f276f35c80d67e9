// Notes that a version was pushed, as `ring-builder push` does.
import { type Note, noteVersion } from '@ringwright/repository/append-note';
import type { Head } from '@ringwright/repository/folder/read-log';

export function appendPush(
  place: { readonly rings: string; readonly ring: string },
  pushed: Head,
  note: Omit<Note, 'kind' | 'commands'>,
): Promise<void> {
  return noteVersion(place, pushed, { ...note, kind: 'push', commands: [] });
}
