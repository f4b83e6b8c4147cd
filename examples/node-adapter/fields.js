/** The other side does not keep to the protocol: there is nothing to do but to say so and stop. */
export class Malformed extends Error {}

/** A field or a value from a later protocol, perhaps: passing over it would be a lie. */
export class UnknownToUs extends Error {}

/**
 * Reads an object by a table of fields; each field is a function that checks a value (undefined
 * where it is left out) and returns it, or its default.
 */
export function readFields(fields, given, where) {
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(fields, name)) throw new UnknownToUs(`${where} has no field ${name}`);
  }
  const read = ([name, field]) => [name, field(given[name], `${where}.${name}`)];
  return Object.fromEntries(Object.entries(fields).map(read));
}

/** A string that must be there. */
export const text = () => (value, where) => {
  if (typeof value !== 'string') throw new Malformed(`${where} is not a string`);
  return value;
};

/** A string that may be left out. */
export const textOr = (byDefault) => (value, where) => (
  isMissing(value) ? byDefault : text()(value, where)
);

/** A field that may be null, which then says something; it may also have a default. */
const orNull = (field, byDefault = null) => (value, where) => {
  if (value === undefined) return byDefault;
  return value === null ? null : field(value, where);
};

export const textOrNull = () => orNull(text());

export const wholeOrNull = () => orNull(whole());

export const flagOrNull = (byDefault) => orNull(flag(), byDefault);

export const flag = (byDefault) => (value, where) => {
  if (isMissing(value)) return byDefault;
  if (typeof value !== 'boolean') throw new Malformed(`${where} is neither true nor false`);
  return value;
};

/** A whole number from 0; without a default it must be there. */
export const whole = (byDefault) => (value, where) => {
  if (isMissing(value) && byDefault !== undefined) return byDefault;
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new Malformed(`${where} is not a whole number from 0`);
  }
  return value;
};

/** Any whole number. One that JavaScript does not hold exactly is none that this bus gave out. */
export const integer = () => (value, where) => {
  if (!Number.isInteger(value)) throw new Malformed(`${where} is not a whole number`);
  return value;
};

export const listOf = (item) => (value, where) => {
  if (!Array.isArray(value)) throw new Malformed(`${where} is not a list`);
  return value.map((each, index) => item(each, `${where}[${index}]`));
};

export const oneOf = (values, byDefault) => (value, where) => {
  if (isMissing(value)) return byDefault;
  if (!values.includes(value)) throw new UnknownToUs(`${where} is none of ${values.join(', ')}`);
  return value;
};

export const record = (fields) => (value, where) => {
  if (!isRecord(value)) throw new Malformed(`${where} is not an object`);
  return readFields(fields, value, where);
};

export function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isMissing(value) {
  return value === undefined || value === null;
}
