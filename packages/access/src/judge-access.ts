// Whether an access document may follow the one in force: never back. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { type AccessDocument, accessInvalid } from './access-document.ts';

interface Judged {
  readonly document: Pick<AccessDocument, 'cluster' | 'epoch' | 'version'>;
  readonly id: string;
}

/** Throws ACCESS_OLDER, ACCESS_FORK, ACCESS_INVALID. `same`: there is nothing to do. */
export function judgeAccess(held: Judged | null, candidate: Judged): 'newer' | 'same' {
  if (held === null) return 'newer';
  if (held.id === candidate.id) return 'same';
  const [have, offered] = [held.document, candidate.document];
  if (have.cluster !== offered.cluster) {
    throw accessInvalid(
      `it is of cluster '${offered.cluster}', that of '${have.cluster}' is in force`,
    );
  }
  const steps = offered.epoch - have.epoch || offered.version - have.version;
  if (steps > 0) return 'newer';
  const details = { held: have, given: offered };
  if (steps < 0) {
    const message = `access document ${offered.version} is older than ${have.version}, in force`;
    throw new CodedError('ACCESS_OLDER', message, {
      hint: 'work in the current rings folder (git pull): its access document is newer',
      details,
    });
  }
  const message = `two access documents ${offered.version}: ${held.id.slice(0, 12)} is in force`;
  throw new CodedError('ACCESS_FORK', message, {
    hint: 'grant again in the folder that is right: the next version is taken from it',
    details,
  });
}
