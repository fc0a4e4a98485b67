/** The library for YAML, to be loaded on demand. The bundler keeps only names that an ES module exports, and the library is none. */
export { parse, stringify } from 'yaml';
