/**
 * Breaking changes between two OpenAPI documents: what a client of the first would stumble over with the second. Additions are none,
 * and neither are further words in an answer's enumeration, which clients must expect.
 */
type Json = Readonly<Record<string, unknown>>;

/** Which way data goes: what clients send may only be taken more freely, what they get may only be promised more. */
type Side = 'sent' | 'received';
type Pair = { readonly before: Json; readonly after: Json };

export function breakingChanges(before: Json, after: Json): string[] {
  const documents = { before, after };
  return Object.entries(recordOf(before.paths)).flatMap(([path, methods]) =>
    Object.entries(recordOf(methods)).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const now = recordOf(recordOf(recordOf(after.paths)[path])[method]);
      if (Object.keys(now).length === 0) return [`${name} is gone`];
      const pair = { before: recordOf(operation), after: now };
      const comparison = new Comparison(documents);
      return [
        ...parameterBreaks(pair, comparison),
        ...bodyBreaks(pair, comparison),
        ...answerBreaks(pair, comparison),
      ].map((what) => `${name}: ${what}`);
    }),
  );
}

function parameterBreaks({ before, after }: Pair, comparison: Comparison): string[] {
  const [was, is] = [parametersOf(before), parametersOf(after)];
  const gone = [...was].flatMap(([key, parameter]) => {
    const now = is.get(key);
    if (now === undefined) return [`parameter ${key} is gone`];
    const needed =
      now.required === true && parameter.required !== true ? [`parameter ${key} is required now`] : [];
    const schemas = { before: recordOf(parameter.schema), after: recordOf(now.schema) };
    return [...needed, ...comparison.schema(schemas, 'sent', `parameter ${key}`)];
  });
  const added = [...is]
    .filter(([key, { required }]) => required === true && !was.has(key))
    .map(([key]) => `parameter ${key} is new and required`);
  return [...gone, ...added];
}

function parametersOf({ parameters }: Json): ReadonlyMap<string, Json> {
  const list = Array.isArray(parameters) ? parameters.map(recordOf) : [];
  return new Map(list.map((parameter) => [`${String(parameter.in)} ${String(parameter.name)}`, parameter]));
}

function bodyBreaks({ before, after }: Pair, comparison: Comparison): string[] {
  const [was, is] = [recordOf(before.requestBody), recordOf(after.requestBody)];
  const needed = is.required === true && was.required !== true ? ['a body is required now'] : [];
  const schemas = contentPairs(was, is);
  return [
    ...needed,
    ...schemas.flatMap(({ type, ...pair }) =>
      pair.after === undefined
        ? [`a body of ${type} is not taken any more`]
        : comparison.schema({ before: pair.before, after: pair.after }, 'sent', 'body'),
    ),
  ];
}

function answerBreaks({ before, after }: Pair, comparison: Comparison): string[] {
  return Object.entries(recordOf(before.responses))
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, response]) => {
      const now = recordOf(after.responses)[status];
      if (now === undefined) return [`status ${status} is gone`];
      return contentPairs(recordOf(response), recordOf(now)).flatMap(({ type, ...pair }) =>
        pair.after === undefined
          ? [`an answer ${status} of ${type} is gone`]
          : comparison.schema({ before: pair.before, after: pair.after }, 'received', `answer ${status}`),
      );
    });
}

function contentPairs(was: Json, is: Json): { type: string; before: Json; after: Json | undefined }[] {
  const now = recordOf(is.content);
  return Object.entries(recordOf(was.content)).map(([type, content]) => ({
    type,
    before: recordOf(recordOf(content).schema),
    after: now[type] === undefined ? undefined : recordOf(recordOf(now[type]).schema),
  }));
}

class Comparison {
  /** Pairs that are being compared or have been: schemas refer to each other. */
  private readonly seen = new Set<string>();

  constructor(private readonly documents: Pair) {}

  schema(pair: Pair, side: Side, at: string): string[] {
    const key = JSON.stringify([pair.before, pair.after, side]);
    if (this.seen.has(key)) return [];
    this.seen.add(key);
    const before = resolved(pair.before, this.documents.before);
    const after = resolved(pair.after, this.documents.after);
    return [
      ...typeBreaks({ before, after }, side, at),
      ...enumBreaks({ before, after }, at),
      ...(side === 'sent' ? boundBreaks({ before, after }, at) : []),
      ...this.fieldBreaks({ before, after }, side, at),
      ...this.itemBreaks({ before, after }, side, at),
    ];
  }

  private fieldBreaks({ before, after }: Pair, side: Side, at: string): string[] {
    const [was, is] = [recordOf(before.properties), recordOf(after.properties)];
    const [needed, needs] = [namesOf(before.required), namesOf(after.required)];
    const known = Object.entries(was).flatMap(([name, schema]) => {
      if (is[name] === undefined) return [`${at}: field ${name} is gone`];
      if (side === 'received' && needed.has(name) && !needs.has(name))
        return [`${at}: field ${name} may be left out now`];
      return this.schema({ before: recordOf(schema), after: recordOf(is[name]) }, side, `${at}.${name}`);
    });
    const required = [...needs]
      .filter((name) => side === 'sent' && !needed.has(name))
      .map((name) => `${at}: field ${name} is required now`);
    return [...known, ...required];
  }

  private itemBreaks({ before, after }: Pair, side: Side, at: string): string[] {
    if (before.items === undefined) return [];
    return this.schema({ before: recordOf(before.items), after: recordOf(after.items) }, side, `${at}[]`);
  }
}

function resolved(schema: Json, document: Json): Json {
  if (typeof schema.$ref !== 'string') return schema;
  const found = schema.$ref
    .replace('#/', '')
    .split('/')
    .reduce<Json>((part, name) => recordOf(part[name]), document);
  return resolved(found, document);
}

/** Clients may send what they sent, and get nothing of another type than they got. */
function typeBreaks({ before, after }: Pair, side: Side, at: string): string[] {
  const [was, is] = [typesOf(before), typesOf(after)];
  if (was.size === 0 || is.size === 0) return [];
  const [narrow, wide] = side === 'sent' ? [was, is] : [is, was];
  const extra = [...narrow].filter((type) => !wide.has(type) && !(type === 'integer' && wide.has('number')));
  if (extra.length === 0) return [];
  return [`${at}: was ${[...was].join(' or ')}, is ${[...is].join(' or ')}`];
}

function typesOf(schema: Json): Set<string> {
  const options = [schema.anyOf, schema.oneOf].flatMap((list) =>
    Array.isArray(list) ? list.map(recordOf) : [],
  );
  const own = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  // A reference among several is an object.
  const named = options.some(({ $ref }) => $ref !== undefined) ? ['object'] : [];
  return new Set([...own.map(String), ...named, ...options.flatMap((option) => [...typesOf(option)])]);
}

function enumBreaks({ before, after }: Pair, at: string): string[] {
  if (!Array.isArray(before.enum) || !Array.isArray(after.enum)) return [];
  const is = new Set(after.enum);
  return before.enum.filter((word) => !is.has(word)).map((word) => `${at}: ${String(word)} is gone`);
}

/** Bounds of what may be sent; a bound that is further out, or gone, is none. */
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];
const UPPER = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'];

function boundBreaks({ before, after }: Pair, at: string): string[] {
  const isTighter = (name: string, sign: 1 | -1) => {
    const [was, is] = [before[name], after[name]];
    return typeof is === 'number' && (typeof was !== 'number' || sign * is > sign * was);
  };
  const tighter = [
    ...LOWER.filter((name) => isTighter(name, 1)),
    ...UPPER.filter((name) => isTighter(name, -1)),
  ];
  return tighter.map((name) => `${at}: ${name} was ${String(before[name])}, is ${String(after[name])}`);
}

function namesOf(value: unknown): Set<string> {
  return new Set(Array.isArray(value) ? value.map(String) : []);
}

function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
