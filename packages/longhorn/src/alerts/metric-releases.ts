/** Metrics of Longhorn that came later than 1.4, by the release that brought them. */
export const METRIC_SINCE: Readonly<Record<string, string>> = {
  longhorn_snapshot_actual_size_bytes: '1.5.0',
  longhorn_backing_image_actual_size_bytes: '1.7.0',
  longhorn_backing_image_state: '1.7.0',
  longhorn_backup_backing_image_actual_size_bytes: '1.7.0',
  longhorn_backup_backing_image_state: '1.7.0',
  longhorn_volume_file_system_read_only: '1.8.0',
  longhorn_engine_info: '1.9.0',
  longhorn_engine_state: '1.9.0',
  longhorn_engine_replica_mode: '1.9.0',
  longhorn_engine_rebuild_progress: '1.9.0',
  longhorn_replica_info: '1.9.0',
  longhorn_replica_state: '1.9.0',
  longhorn_node_storage_scheduled_bytes: '1.10.0',
  longhorn_disk_health: '1.11.0',
  longhorn_disk_health_attribute_raw: '1.11.0',
  longhorn_volume_last_backup_at: '1.11.0',
  longhorn_volume_encrypted: '1.12.0',
  longhorn_backup_uploaded_data_size_bytes: '1.12.0',
  longhorn_backup_target_backup_volume_count: '1.12.0',
  longhorn_backup_volume_backups_count: '1.12.0',
};

/** Metrics that were a number up to 1.10, and have a series for each state from 1.11 on. */
export const STATES_OF: Readonly<Record<string, readonly string[]>> = {
  longhorn_volume_robustness: ['unknown', 'healthy', 'degraded', 'faulted'],
  longhorn_volume_state: ['', 'creating', 'attached', 'detached', 'attaching', 'detaching', 'deleting'],
};
export const STATE_SERIES_SINCE = '1.11.0';
