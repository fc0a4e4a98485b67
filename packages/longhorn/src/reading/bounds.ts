/**
 * Bounds of reading. A source comes by mail or from a ticket, so it is not trusted; each bound is some times the largest that
 * Longhorn is known to write.
 */
import { GIB, MIB } from '@holdfast/core/model/bytes.js';

/** Bundles of 2 GiB have been made to test downloads; nearly all of that is logs, which are not read. */
export const ARCHIVE_BYTES_MAX = 4 * GIB;
/** A bundle of some hundred nodes has some thousand entries; an entry costs memory for its name. */
export const ENTRIES_MAX = 50_000;
/** Of one file with objects: 60,000 replicas take some 180 MiB. It is held in memory as text while it is read. */
export const FILE_BYTES_MAX = 384 * MIB;
/** Of all files with objects together: 1,000 nodes and 20,000 volumes take some 300 MiB. */
export const TEXT_BYTES_MAX = GIB;
/** YAML of Kubernetes shrinks to a twentieth or a fortieth. A larger ratio is made to fill a disk. */
export const RATIO_MAX = 200;
/** A file as small as this may shrink as it likes: zeros of a few KiB do, and hurt nothing. */
export const RATIO_FREE_BYTES = MIB;
/** etcd takes 1.5 MiB of JSON for an object, and indentation makes at most some times that of it. */
export const ITEM_BYTES_MAX = 8 * MIB;
/** Objects of Longhorn nest 8 deep, definitions of resources some 30; a parser needs stack for each level. */
export const NESTING_MAX = 64;
/** Folders inside folders: a bundle has 6. */
export const FOLDERS_DEEP_MAX = 16;
/** Objects that are kept: 60,000 replicas, as many engines, snapshots and more. */
export const OBJECTS_MAX = 2_000_000;
/** Problems that are listed; of a file that is no YAML each line would be one. */
export const PROBLEMS_MAX = 200;
/** Of an archive of one node inside a bundle, which is held in memory: its logs are rotated at some MiB each. */
export const INNER_ARCHIVE_BYTES_MAX = 256 * MIB;
/** Of all logs together: bundles of 2 GiB packed are known, which unpack to some ten times as much; what signatures ask of is a part. */
export const LOG_BYTES_MAX = 8 * GIB;
