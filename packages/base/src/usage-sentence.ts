// Turns yargs' message about a wrong command line into one plain sentence. Pure.

const LACKS_VALUE = /^Not enough arguments following: (.+)$/;
const LACKS_OPTION = /^Missing required arguments?: (.+)$/;
const BAD_CHOICE = /Argument: (.+), Given: (.*), Choices: (.+)$/;

/** Returns one line, with options as they are typed. */
export function usageSentence(message: string): string {
  const [, lacking] = LACKS_VALUE.exec(message) ?? [];
  if (lacking !== undefined) return `${asTyped(lacking)} needs a value`;
  const [, missing] = LACKS_OPTION.exec(message) ?? [];
  if (missing !== undefined) {
    return `${missing.split(', ').map(asTyped).join(' and ')} must be given`;
  }
  const line = message.replaceAll(/\s*\n\s*/g, ' ');
  const [, name, value, choices] = BAD_CHOICE.exec(line) ?? [];
  if (name === undefined) return line;
  return `${asTyped(name)} ${value}: wanted one of ${choices?.replaceAll('"', '')}`;
}

function asTyped(option: string): string {
  return `${option.length === 1 ? '-' : '--'}${option}`;
}
