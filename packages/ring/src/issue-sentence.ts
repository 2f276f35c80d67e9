// Words schema errors for people: the validator's own sentences are for programmers. Pure.
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { shortened } from '@ringwright/base/shortened';
import type { z } from 'zod';

/** Beginnings of the validator's own sentences; sentences from the schema are kept. */
const validatorsOwn = /^(Invalid|Too |Unrecognized)/;

/** Returns `wanted 65535 at most`, `is missing`, or the schema's own sentence. */
export function issueSentence(issue: z.core.$ZodIssue): string {
  if (!validatorsOwn.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is missing'
        : `expected ${typeNames[issue.expected] ?? `a ${issue.expected}`}`;
    case 'too_small':
      if (issue.origin === 'string') return 'is empty';
      if (issue.origin === 'array') return 'has too few members';
      return issue.inclusive === false
        ? `expected more than ${issue.minimum}`
        : `expected ${issue.minimum} or more`;
    case 'too_big':
      if (issue.origin === 'string') return `has more than ${issue.maximum} characters`;
      if (issue.origin === 'array') return `has more than ${issue.maximum} members`;
      return issue.inclusive === false
        ? `expected less than ${issue.maximum}`
        : `expected at most ${issue.maximum}`;
    case 'invalid_value':
      return `expected ${issue.values.map(String).join(', ')}`;
    case 'invalid_union':
      // `options` exist when a field distinguishes the members; else no single sentence fits all of
      // them.
      return 'options' in issue && issue.options !== undefined
        ? `expected ${issue.options.map(String).join(', ')}`
        : 'has the wrong form';
    case 'unrecognized_keys':
      return `has ${issue.keys.map((key) => JSON.stringify(shortened(key, typedCharactersMax))).join(', ')}, which is unknown`;
    default:
      return 'has the wrong form';
  }
}

const typeNames: Readonly<Record<string, string>> = {
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  string: 'a text',
  boolean: 'true or false',
};
