/** Injection tokens for values that are no classes. */
export const CONFIG = Symbol('config');
export const LOGGER = Symbol('logger');
