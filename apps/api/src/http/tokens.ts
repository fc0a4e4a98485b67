/** Injection tokens for values that are no classes. */
export const CONFIG = Symbol('config');
export const SHARED_PORTS = Symbol('shared ports');
export const LOGGER = Symbol('logger');
