// NVML as of nvml.h 13.0: types, numbers and every symbol, laid out as applications expect them.
// Generated from native/spec/nvml.* by native/codegen/generate.ts; change those.
#pragma once

#include <cstdint>

// A name is the symbol of that name: nvmlInit is the one of NVML 4, nvmlInit_v2 is what nvml.h calls nvmlInit. layouts.inc asserts sizes and offsets.
// Numbers may come from anywhere, so every enum has a fixed type and takes any value.

struct nvmlDevice_st;
struct nvmlGpuInstance_st;
struct nvmlUnit_st;
struct nvmlEventSet_st;
struct nvmlSystemEventSet_st;
struct nvmlComputeInstance_st;
struct nvmlGpmSample_st;

using nvmlDevice_t = nvmlDevice_st*;
using nvmlGpuInstance_t = nvmlGpuInstance_st*;
struct nvmlPciInfoExt_v1_t {
  unsigned int version;
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pciDeviceId;
  unsigned int pciSubSystemId;
  unsigned int baseClass;
  unsigned int subClass;
  char busId[32];
};
using nvmlPciInfoExt_t = nvmlPciInfoExt_v1_t;
struct nvmlPciInfo_st {
  char busIdLegacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pciDeviceId;
  unsigned int pciSubSystemId;
  char busId[32];
};
using nvmlPciInfo_t = nvmlPciInfo_st;
struct nvmlEccErrorCounts_st {
  unsigned long long l1Cache;
  unsigned long long l2Cache;
  unsigned long long deviceMemory;
  unsigned long long registerFile;
};
using nvmlEccErrorCounts_t = nvmlEccErrorCounts_st;
struct nvmlUtilization_st {
  unsigned int gpu;
  unsigned int memory;
};
using nvmlUtilization_t = nvmlUtilization_st;
struct nvmlMemory_st {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
using nvmlMemory_t = nvmlMemory_st;
struct nvmlMemory_v2_st {
  unsigned int version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
using nvmlMemory_v2_t = nvmlMemory_v2_st;
struct nvmlBAR1Memory_st {
  unsigned long long bar1Total;
  unsigned long long bar1Free;
  unsigned long long bar1Used;
};
using nvmlBAR1Memory_t = nvmlBAR1Memory_st;
struct nvmlProcessInfo_v1_st {
  unsigned int pid;
  unsigned long long usedGpuMemory;
};
using nvmlProcessInfo_v1_t = nvmlProcessInfo_v1_st;
struct nvmlProcessInfo_v2_st {
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId;
  unsigned int computeInstanceId;
};
using nvmlProcessInfo_v2_t = nvmlProcessInfo_v2_st;
using nvmlProcessInfo_t = nvmlProcessInfo_v2_st;
struct nvmlProcessDetail_v1_t {
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId;
  unsigned int computeInstanceId;
  unsigned long long usedGpuCcProtectedMemory;
};
struct nvmlProcessDetailList_v1_t {
  unsigned int version;
  unsigned int mode;
  unsigned int numProcArrayEntries;
  nvmlProcessDetail_v1_t* procArray;
};
using nvmlProcessDetailList_t = nvmlProcessDetailList_v1_t;
struct nvmlDeviceAttributes_st {
  unsigned int multiprocessorCount;
  unsigned int sharedCopyEngineCount;
  unsigned int sharedDecoderCount;
  unsigned int sharedEncoderCount;
  unsigned int sharedJpegCount;
  unsigned int sharedOfaCount;
  unsigned int gpuInstanceSliceCount;
  unsigned int computeInstanceSliceCount;
  unsigned long long memorySizeMB;
};
using nvmlDeviceAttributes_t = nvmlDeviceAttributes_st;
struct nvmlC2cModeInfo_v1_t {
  unsigned int isC2cEnabled;
};
enum nvmlDeviceAddressingModeType_t : unsigned {
  NVML_DEVICE_ADDRESSING_MODE_NONE = 0,
  NVML_DEVICE_ADDRESSING_MODE_HMM = 1,
  NVML_DEVICE_ADDRESSING_MODE_ATS = 2,
};
struct nvmlDeviceAddressingMode_v1_t {
  unsigned int version;
  unsigned int value;
};
using nvmlDeviceAddressingMode_t = nvmlDeviceAddressingMode_v1_t;
struct nvmlRepairStatus_v1_t {
  unsigned int version;
  unsigned int bChannelRepairPending;
  unsigned int bTpcRepairPending;
};
using nvmlRepairStatus_t = nvmlRepairStatus_v1_t;
struct nvmlRowRemapperHistogramValues_st {
  unsigned int max;
  unsigned int high;
  unsigned int partial;
  unsigned int low;
  unsigned int none;
};
using nvmlRowRemapperHistogramValues_t = nvmlRowRemapperHistogramValues_st;
enum nvmlBridgeChipType_enum : unsigned {
  NVML_BRIDGE_CHIP_PLX = 0,
  NVML_BRIDGE_CHIP_BRO4 = 1,
};
using nvmlBridgeChipType_t = nvmlBridgeChipType_enum;
enum nvmlNvLinkUtilizationCountUnits_enum : unsigned {
  NVML_NVLINK_COUNTER_UNIT_CYCLES = 0,
  NVML_NVLINK_COUNTER_UNIT_PACKETS = 1,
  NVML_NVLINK_COUNTER_UNIT_BYTES = 2,
  NVML_NVLINK_COUNTER_UNIT_RESERVED = 3,
  NVML_NVLINK_COUNTER_UNIT_COUNT = 4,
};
using nvmlNvLinkUtilizationCountUnits_t = nvmlNvLinkUtilizationCountUnits_enum;
enum nvmlNvLinkUtilizationCountPktTypes_enum : unsigned {
  NVML_NVLINK_COUNTER_PKTFILTER_NOP = 1,
  NVML_NVLINK_COUNTER_PKTFILTER_READ = 2,
  NVML_NVLINK_COUNTER_PKTFILTER_WRITE = 4,
  NVML_NVLINK_COUNTER_PKTFILTER_RATOM = 8,
  NVML_NVLINK_COUNTER_PKTFILTER_NRATOM = 16,
  NVML_NVLINK_COUNTER_PKTFILTER_FLUSH = 32,
  NVML_NVLINK_COUNTER_PKTFILTER_RESPDATA = 64,
  NVML_NVLINK_COUNTER_PKTFILTER_RESPNODATA = 128,
  NVML_NVLINK_COUNTER_PKTFILTER_ALL = 255,
};
using nvmlNvLinkUtilizationCountPktTypes_t = nvmlNvLinkUtilizationCountPktTypes_enum;
struct nvmlNvLinkUtilizationControl_st {
  nvmlNvLinkUtilizationCountUnits_t units;
  nvmlNvLinkUtilizationCountPktTypes_t pktfilter;
};
using nvmlNvLinkUtilizationControl_t = nvmlNvLinkUtilizationControl_st;
enum nvmlNvLinkCapability_enum : unsigned {
  NVML_NVLINK_CAP_P2P_SUPPORTED = 0,
  NVML_NVLINK_CAP_SYSMEM_ACCESS = 1,
  NVML_NVLINK_CAP_P2P_ATOMICS = 2,
  NVML_NVLINK_CAP_SYSMEM_ATOMICS = 3,
  NVML_NVLINK_CAP_SLI_BRIDGE = 4,
  NVML_NVLINK_CAP_VALID = 5,
  NVML_NVLINK_CAP_COUNT = 6,
};
using nvmlNvLinkCapability_t = nvmlNvLinkCapability_enum;
enum nvmlNvLinkErrorCounter_enum : unsigned {
  NVML_NVLINK_ERROR_DL_REPLAY = 0,
  NVML_NVLINK_ERROR_DL_RECOVERY = 1,
  NVML_NVLINK_ERROR_DL_CRC_FLIT = 2,
  NVML_NVLINK_ERROR_DL_CRC_DATA = 3,
  NVML_NVLINK_ERROR_DL_ECC_DATA = 4,
  NVML_NVLINK_ERROR_COUNT = 5,
};
using nvmlNvLinkErrorCounter_t = nvmlNvLinkErrorCounter_enum;
enum nvmlIntNvLinkDeviceType_enum : unsigned {
  NVML_NVLINK_DEVICE_TYPE_GPU = 0,
  NVML_NVLINK_DEVICE_TYPE_IBMNPU = 1,
  NVML_NVLINK_DEVICE_TYPE_SWITCH = 2,
  NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 255,
};
using nvmlIntNvLinkDeviceType_t = nvmlIntNvLinkDeviceType_enum;
enum nvmlGpuLevel_enum : unsigned {
  NVML_TOPOLOGY_INTERNAL = 0,
  NVML_TOPOLOGY_SINGLE = 10,
  NVML_TOPOLOGY_MULTIPLE = 20,
  NVML_TOPOLOGY_HOSTBRIDGE = 30,
  NVML_TOPOLOGY_NODE = 40,
  NVML_TOPOLOGY_SYSTEM = 50,
};
using nvmlGpuTopologyLevel_t = nvmlGpuLevel_enum;
enum nvmlGpuP2PStatus_enum : unsigned {
  NVML_P2P_STATUS_OK = 0,
  NVML_P2P_STATUS_CHIPSET_NOT_SUPPORED = 1,
  NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED = 1,
  NVML_P2P_STATUS_GPU_NOT_SUPPORTED = 2,
  NVML_P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED = 3,
  NVML_P2P_STATUS_DISABLED_BY_REGKEY = 4,
  NVML_P2P_STATUS_NOT_SUPPORTED = 5,
  NVML_P2P_STATUS_UNKNOWN = 6,
};
using nvmlGpuP2PStatus_t = nvmlGpuP2PStatus_enum;
enum nvmlGpuP2PCapsIndex_enum : unsigned {
  NVML_P2P_CAPS_INDEX_READ = 0,
  NVML_P2P_CAPS_INDEX_WRITE = 1,
  NVML_P2P_CAPS_INDEX_NVLINK = 2,
  NVML_P2P_CAPS_INDEX_ATOMICS = 3,
  NVML_P2P_CAPS_INDEX_PCI = 4,
  NVML_P2P_CAPS_INDEX_PROP = 4,
  NVML_P2P_CAPS_INDEX_UNKNOWN = 5,
};
using nvmlGpuP2PCapsIndex_t = nvmlGpuP2PCapsIndex_enum;
struct nvmlBridgeChipInfo_st {
  nvmlBridgeChipType_t type;
  unsigned int fwVersion;
};
using nvmlBridgeChipInfo_t = nvmlBridgeChipInfo_st;
struct nvmlBridgeChipHierarchy_st {
  unsigned char bridgeCount;
  nvmlBridgeChipInfo_t bridgeChipInfo[128];
};
using nvmlBridgeChipHierarchy_t = nvmlBridgeChipHierarchy_st;
enum nvmlSamplingType_enum : unsigned {
  NVML_TOTAL_POWER_SAMPLES = 0,
  NVML_GPU_UTILIZATION_SAMPLES = 1,
  NVML_MEMORY_UTILIZATION_SAMPLES = 2,
  NVML_ENC_UTILIZATION_SAMPLES = 3,
  NVML_DEC_UTILIZATION_SAMPLES = 4,
  NVML_PROCESSOR_CLK_SAMPLES = 5,
  NVML_MEMORY_CLK_SAMPLES = 6,
  NVML_MODULE_POWER_SAMPLES = 7,
  NVML_JPG_UTILIZATION_SAMPLES = 8,
  NVML_OFA_UTILIZATION_SAMPLES = 9,
  NVML_SAMPLINGTYPE_COUNT = 10,
};
using nvmlSamplingType_t = nvmlSamplingType_enum;
enum nvmlPcieUtilCounter_enum : unsigned {
  NVML_PCIE_UTIL_TX_BYTES = 0,
  NVML_PCIE_UTIL_RX_BYTES = 1,
  NVML_PCIE_UTIL_COUNT = 2,
};
using nvmlPcieUtilCounter_t = nvmlPcieUtilCounter_enum;
enum nvmlValueType_enum : unsigned {
  NVML_VALUE_TYPE_DOUBLE = 0,
  NVML_VALUE_TYPE_UNSIGNED_INT = 1,
  NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
  NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
  NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4,
  NVML_VALUE_TYPE_SIGNED_INT = 5,
  NVML_VALUE_TYPE_UNSIGNED_SHORT = 6,
  NVML_VALUE_TYPE_COUNT = 7,
};
using nvmlValueType_t = nvmlValueType_enum;
union nvmlValue_st {
  double dVal;
  int siVal;
  unsigned int uiVal;
  unsigned long ulVal;
  unsigned long long ullVal;
  long long sllVal;
  unsigned short usVal;
};
using nvmlValue_t = nvmlValue_st;
struct nvmlSample_st {
  unsigned long long timeStamp;
  nvmlValue_t sampleValue;
};
using nvmlSample_t = nvmlSample_st;
enum nvmlPerfPolicyType_enum : unsigned {
  NVML_PERF_POLICY_POWER = 0,
  NVML_PERF_POLICY_THERMAL = 1,
  NVML_PERF_POLICY_SYNC_BOOST = 2,
  NVML_PERF_POLICY_BOARD_LIMIT = 3,
  NVML_PERF_POLICY_LOW_UTILIZATION = 4,
  NVML_PERF_POLICY_RELIABILITY = 5,
  NVML_PERF_POLICY_TOTAL_APP_CLOCKS = 10,
  NVML_PERF_POLICY_TOTAL_BASE_CLOCKS = 11,
  NVML_PERF_POLICY_COUNT = 12,
};
using nvmlPerfPolicyType_t = nvmlPerfPolicyType_enum;
struct nvmlViolationTime_st {
  unsigned long long referenceTime;
  unsigned long long violationTime;
};
using nvmlViolationTime_t = nvmlViolationTime_st;
enum nvmlThermalTarget_t : int {
  NVML_THERMAL_TARGET_NONE = 0,
  NVML_THERMAL_TARGET_GPU = 1,
  NVML_THERMAL_TARGET_MEMORY = 2,
  NVML_THERMAL_TARGET_POWER_SUPPLY = 4,
  NVML_THERMAL_TARGET_BOARD = 8,
  NVML_THERMAL_TARGET_VCD_BOARD = 9,
  NVML_THERMAL_TARGET_VCD_INLET = 10,
  NVML_THERMAL_TARGET_VCD_OUTLET = 11,
  NVML_THERMAL_TARGET_ALL = 15,
  NVML_THERMAL_TARGET_UNKNOWN = -1,
};
enum nvmlThermalController_t : int {
  NVML_THERMAL_CONTROLLER_NONE = 0,
  NVML_THERMAL_CONTROLLER_GPU_INTERNAL = 1,
  NVML_THERMAL_CONTROLLER_ADM1032 = 2,
  NVML_THERMAL_CONTROLLER_ADT7461 = 3,
  NVML_THERMAL_CONTROLLER_MAX6649 = 4,
  NVML_THERMAL_CONTROLLER_MAX1617 = 5,
  NVML_THERMAL_CONTROLLER_LM99 = 6,
  NVML_THERMAL_CONTROLLER_LM89 = 7,
  NVML_THERMAL_CONTROLLER_LM64 = 8,
  NVML_THERMAL_CONTROLLER_G781 = 9,
  NVML_THERMAL_CONTROLLER_ADT7473 = 10,
  NVML_THERMAL_CONTROLLER_SBMAX6649 = 11,
  NVML_THERMAL_CONTROLLER_VBIOSEVT = 12,
  NVML_THERMAL_CONTROLLER_OS = 13,
  NVML_THERMAL_CONTROLLER_NVSYSCON_CANOAS = 14,
  NVML_THERMAL_CONTROLLER_NVSYSCON_E551 = 15,
  NVML_THERMAL_CONTROLLER_MAX6649R = 16,
  NVML_THERMAL_CONTROLLER_ADT7473S = 17,
  NVML_THERMAL_CONTROLLER_UNKNOWN = -1,
};
struct nvmlGpuThermalSettings_t_sensor {
  nvmlThermalController_t controller;
  int defaultMinTemp;
  int defaultMaxTemp;
  int currentTemp;
  nvmlThermalTarget_t target;
};
struct nvmlGpuThermalSettings_t {
  unsigned int count;
  nvmlGpuThermalSettings_t_sensor sensor[3];
};
enum nvmlCoolerControl_enum : unsigned {
  NVML_THERMAL_COOLER_SIGNAL_NONE = 0,
  NVML_THERMAL_COOLER_SIGNAL_TOGGLE = 1,
  NVML_THERMAL_COOLER_SIGNAL_VARIABLE = 2,
  NVML_THERMAL_COOLER_SIGNAL_COUNT = 3,
};
using nvmlCoolerControl_t = nvmlCoolerControl_enum;
enum nvmlCoolerTarget_enum : unsigned {
  NVML_THERMAL_COOLER_TARGET_NONE = 1,
  NVML_THERMAL_COOLER_TARGET_GPU = 2,
  NVML_THERMAL_COOLER_TARGET_MEMORY = 4,
  NVML_THERMAL_COOLER_TARGET_POWER_SUPPLY = 8,
  NVML_THERMAL_COOLER_TARGET_GPU_RELATED = 14,
};
using nvmlCoolerTarget_t = nvmlCoolerTarget_enum;
struct nvmlCoolerInfo_v1_t {
  unsigned int version;
  unsigned int index;
  nvmlCoolerControl_t signalType;
  nvmlCoolerTarget_t target;
};
using nvmlCoolerInfo_t = nvmlCoolerInfo_v1_t;
enum nvmlUUIDType_t : unsigned {
  NVML_UUID_TYPE_NONE = 0,
  NVML_UUID_TYPE_ASCII = 1,
  NVML_UUID_TYPE_BINARY = 2,
};
union nvmlUUIDValue_t {
  char str[41];
  unsigned char bytes[16];
};
struct nvmlUUID_v1_t {
  unsigned int version;
  unsigned int type;
  nvmlUUIDValue_t value;
};
using nvmlUUID_t = nvmlUUID_v1_t;
struct nvmlPdi_v1_t {
  unsigned int version;
  unsigned long long value;
};
using nvmlPdi_t = nvmlPdi_v1_t;
enum nvmlEnableState_enum : unsigned {
  NVML_FEATURE_DISABLED = 0,
  NVML_FEATURE_ENABLED = 1,
};
using nvmlEnableState_t = nvmlEnableState_enum;
struct nvmlDramEncryptionInfo_v1_t {
  unsigned int version;
  nvmlEnableState_t encryptionState;
};
using nvmlDramEncryptionInfo_t = nvmlDramEncryptionInfo_v1_t;
enum nvmlBrandType_enum : unsigned {
  NVML_BRAND_UNKNOWN = 0,
  NVML_BRAND_QUADRO = 1,
  NVML_BRAND_TESLA = 2,
  NVML_BRAND_NVS = 3,
  NVML_BRAND_GRID = 4,
  NVML_BRAND_GEFORCE = 5,
  NVML_BRAND_TITAN = 6,
  NVML_BRAND_NVIDIA_VAPPS = 7,
  NVML_BRAND_NVIDIA_VPC = 8,
  NVML_BRAND_NVIDIA_VCS = 9,
  NVML_BRAND_NVIDIA_VWS = 10,
  NVML_BRAND_NVIDIA_CLOUD_GAMING = 11,
  NVML_BRAND_NVIDIA_VGAMING = 11,
  NVML_BRAND_QUADRO_RTX = 12,
  NVML_BRAND_NVIDIA_RTX = 13,
  NVML_BRAND_NVIDIA = 14,
  NVML_BRAND_GEFORCE_RTX = 15,
  NVML_BRAND_TITAN_RTX = 16,
  NVML_BRAND_COUNT = 18,
};
using nvmlBrandType_t = nvmlBrandType_enum;
enum nvmlTemperatureThresholds_enum : unsigned {
  NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0,
  NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1,
  NVML_TEMPERATURE_THRESHOLD_MEM_MAX = 2,
  NVML_TEMPERATURE_THRESHOLD_GPU_MAX = 3,
  NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MIN = 4,
  NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_CURR = 5,
  NVML_TEMPERATURE_THRESHOLD_ACOUSTIC_MAX = 6,
  NVML_TEMPERATURE_THRESHOLD_GPS_CURR = 7,
  NVML_TEMPERATURE_THRESHOLD_COUNT = 8,
};
using nvmlTemperatureThresholds_t = nvmlTemperatureThresholds_enum;
enum nvmlTemperatureSensors_enum : unsigned {
  NVML_TEMPERATURE_GPU = 0,
  NVML_TEMPERATURE_COUNT = 1,
};
using nvmlTemperatureSensors_t = nvmlTemperatureSensors_enum;
struct nvmlMarginTemperature_v1_t {
  unsigned int version;
  int marginTemperature;
};
using nvmlMarginTemperature_t = nvmlMarginTemperature_v1_t;
enum nvmlComputeMode_enum : unsigned {
  NVML_COMPUTEMODE_DEFAULT = 0,
  NVML_COMPUTEMODE_EXCLUSIVE_THREAD = 1,
  NVML_COMPUTEMODE_PROHIBITED = 2,
  NVML_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
  NVML_COMPUTEMODE_COUNT = 4,
};
using nvmlComputeMode_t = nvmlComputeMode_enum;
struct nvmlClkMonFaultInfo_struct {
  unsigned int clkApiDomain;
  unsigned int clkDomainFaultMask;
};
using nvmlClkMonFaultInfo_t = nvmlClkMonFaultInfo_struct;
struct nvmlClkMonStatus_status {
  unsigned int bGlobalStatus;
  unsigned int clkMonListSize;
  nvmlClkMonFaultInfo_t clkMonList[32];
};
using nvmlClkMonStatus_t = nvmlClkMonStatus_status;
enum nvmlMemoryErrorType_enum : unsigned {
  NVML_MEMORY_ERROR_TYPE_CORRECTED = 0,
  NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1,
  NVML_MEMORY_ERROR_TYPE_COUNT = 2,
};
using nvmlMemoryErrorType_t = nvmlMemoryErrorType_enum;
enum nvmlNvlinkVersion_enum : unsigned {
  NVML_NVLINK_VERSION_INVALID = 0,
  NVML_NVLINK_VERSION_1_0 = 1,
  NVML_NVLINK_VERSION_2_0 = 2,
  NVML_NVLINK_VERSION_2_2 = 3,
  NVML_NVLINK_VERSION_3_0 = 4,
  NVML_NVLINK_VERSION_3_1 = 5,
  NVML_NVLINK_VERSION_4_0 = 6,
  NVML_NVLINK_VERSION_5_0 = 7,
};
using nvmlNvlinkVersion_t = nvmlNvlinkVersion_enum;
enum nvmlEccCounterType_enum : unsigned {
  NVML_VOLATILE_ECC = 0,
  NVML_AGGREGATE_ECC = 1,
  NVML_ECC_COUNTER_TYPE_COUNT = 2,
};
using nvmlEccCounterType_t = nvmlEccCounterType_enum;
enum nvmlClockType_enum : unsigned {
  NVML_CLOCK_GRAPHICS = 0,
  NVML_CLOCK_SM = 1,
  NVML_CLOCK_MEM = 2,
  NVML_CLOCK_VIDEO = 3,
  NVML_CLOCK_COUNT = 4,
};
using nvmlClockType_t = nvmlClockType_enum;
enum nvmlClockId_enum : unsigned {
  NVML_CLOCK_ID_CURRENT = 0,
  NVML_CLOCK_ID_APP_CLOCK_TARGET = 1,
  NVML_CLOCK_ID_APP_CLOCK_DEFAULT = 2,
  NVML_CLOCK_ID_CUSTOMER_BOOST_MAX = 3,
  NVML_CLOCK_ID_COUNT = 4,
};
using nvmlClockId_t = nvmlClockId_enum;
enum nvmlDriverModel_enum : unsigned {
  NVML_DRIVER_WDDM = 0,
  NVML_DRIVER_WDM = 1,
  NVML_DRIVER_MCDM = 2,
};
using nvmlDriverModel_t = nvmlDriverModel_enum;
enum nvmlPStates_enum : unsigned {
  NVML_PSTATE_0 = 0,
  NVML_PSTATE_1 = 1,
  NVML_PSTATE_2 = 2,
  NVML_PSTATE_3 = 3,
  NVML_PSTATE_4 = 4,
  NVML_PSTATE_5 = 5,
  NVML_PSTATE_6 = 6,
  NVML_PSTATE_7 = 7,
  NVML_PSTATE_8 = 8,
  NVML_PSTATE_9 = 9,
  NVML_PSTATE_10 = 10,
  NVML_PSTATE_11 = 11,
  NVML_PSTATE_12 = 12,
  NVML_PSTATE_13 = 13,
  NVML_PSTATE_14 = 14,
  NVML_PSTATE_15 = 15,
  NVML_PSTATE_UNKNOWN = 32,
};
using nvmlPstates_t = nvmlPStates_enum;
struct nvmlClockOffset_v1_t {
  unsigned int version;
  nvmlClockType_t type;
  nvmlPstates_t pstate;
  int clockOffsetMHz;
  int minClockOffsetMHz;
  int maxClockOffsetMHz;
};
using nvmlClockOffset_t = nvmlClockOffset_v1_t;
struct nvmlFanSpeedInfo_v1_t {
  unsigned int version;
  unsigned int fan;
  unsigned int speed;
};
using nvmlFanSpeedInfo_t = nvmlFanSpeedInfo_v1_t;
struct nvmlDevicePerfModes_v1_t {
  unsigned int version;
  char str[2048];
};
using nvmlDevicePerfModes_t = nvmlDevicePerfModes_v1_t;
struct nvmlDeviceCurrentClockFreqs_v1_t {
  unsigned int version;
  char str[2048];
};
using nvmlDeviceCurrentClockFreqs_t = nvmlDeviceCurrentClockFreqs_v1_t;
struct nvmlDevicePowerMizerModes_v1_t {
  unsigned int currentMode;
  unsigned int mode;
  unsigned int supportedPowerMizerModes;
};
enum nvmlGom_enum : unsigned {
  NVML_GOM_ALL_ON = 0,
  NVML_GOM_COMPUTE = 1,
  NVML_GOM_LOW_DP = 2,
};
using nvmlGpuOperationMode_t = nvmlGom_enum;
enum nvmlInforomObject_enum : unsigned {
  NVML_INFOROM_OEM = 0,
  NVML_INFOROM_ECC = 1,
  NVML_INFOROM_POWER = 2,
  NVML_INFOROM_DEN = 3,
  NVML_INFOROM_COUNT = 4,
};
using nvmlInforomObject_t = nvmlInforomObject_enum;
enum nvmlReturn_enum : unsigned {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_ALREADY_INITIALIZED = 5,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_INSUFFICIENT_POWER = 8,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_IRQ_ISSUE = 11,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_FUNCTION_NOT_FOUND = 13,
  NVML_ERROR_CORRUPTED_INFOROM = 14,
  NVML_ERROR_GPU_IS_LOST = 15,
  NVML_ERROR_RESET_REQUIRED = 16,
  NVML_ERROR_OPERATING_SYSTEM = 17,
  NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
  NVML_ERROR_IN_USE = 19,
  NVML_ERROR_MEMORY = 20,
  NVML_ERROR_NO_DATA = 21,
  NVML_ERROR_VGPU_ECC_NOT_SUPPORTED = 22,
  NVML_ERROR_INSUFFICIENT_RESOURCES = 23,
  NVML_ERROR_FREQ_NOT_SUPPORTED = 24,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_DEPRECATED = 26,
  NVML_ERROR_NOT_READY = 27,
  NVML_ERROR_GPU_NOT_FOUND = 28,
  NVML_ERROR_INVALID_STATE = 29,
  NVML_ERROR_RESET_TYPE_NOT_SUPPORTED = 30,
  NVML_ERROR_UNKNOWN = 999,
};
using nvmlReturn_t = nvmlReturn_enum;
enum nvmlMemoryLocation_enum : unsigned {
  NVML_MEMORY_LOCATION_L1_CACHE = 0,
  NVML_MEMORY_LOCATION_L2_CACHE = 1,
  NVML_MEMORY_LOCATION_DRAM = 2,
  NVML_MEMORY_LOCATION_DEVICE_MEMORY = 2,
  NVML_MEMORY_LOCATION_REGISTER_FILE = 3,
  NVML_MEMORY_LOCATION_TEXTURE_MEMORY = 4,
  NVML_MEMORY_LOCATION_TEXTURE_SHM = 5,
  NVML_MEMORY_LOCATION_CBU = 6,
  NVML_MEMORY_LOCATION_SRAM = 7,
  NVML_MEMORY_LOCATION_COUNT = 8,
};
using nvmlMemoryLocation_t = nvmlMemoryLocation_enum;
enum nvmlPageRetirementCause_enum : unsigned {
  NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS = 0,
  NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR = 1,
  NVML_PAGE_RETIREMENT_CAUSE_COUNT = 2,
};
using nvmlPageRetirementCause_t = nvmlPageRetirementCause_enum;
enum nvmlRestrictedAPI_enum : unsigned {
  NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS = 0,
  NVML_RESTRICTED_API_SET_AUTO_BOOSTED_CLOCKS = 1,
  NVML_RESTRICTED_API_COUNT = 2,
};
using nvmlRestrictedAPI_t = nvmlRestrictedAPI_enum;
struct nvmlProcessUtilizationSample_st {
  unsigned int pid;
  unsigned long long timeStamp;
  unsigned int smUtil;
  unsigned int memUtil;
  unsigned int encUtil;
  unsigned int decUtil;
};
using nvmlProcessUtilizationSample_t = nvmlProcessUtilizationSample_st;
struct nvmlProcessUtilizationInfo_v1_t {
  unsigned long long timeStamp;
  unsigned int pid;
  unsigned int smUtil;
  unsigned int memUtil;
  unsigned int encUtil;
  unsigned int decUtil;
  unsigned int jpgUtil;
  unsigned int ofaUtil;
};
struct nvmlProcessesUtilizationInfo_v1_t {
  unsigned int version;
  unsigned int processSamplesCount;
  unsigned long long lastSeenTimeStamp;
  nvmlProcessUtilizationInfo_v1_t* procUtilArray;
};
using nvmlProcessesUtilizationInfo_t = nvmlProcessesUtilizationInfo_v1_t;
struct nvmlEccSramErrorStatus_v1_t {
  unsigned int version;
  unsigned long long aggregateUncParity;
  unsigned long long aggregateUncSecDed;
  unsigned long long aggregateCor;
  unsigned long long volatileUncParity;
  unsigned long long volatileUncSecDed;
  unsigned long long volatileCor;
  unsigned long long aggregateUncBucketL2;
  unsigned long long aggregateUncBucketSm;
  unsigned long long aggregateUncBucketPcie;
  unsigned long long aggregateUncBucketMcu;
  unsigned long long aggregateUncBucketOther;
  unsigned int bThresholdExceeded;
};
using nvmlEccSramErrorStatus_t = nvmlEccSramErrorStatus_v1_t;
struct nvmlPlatformInfo_v1_t {
  unsigned int version;
  unsigned char ibGuid[16];
  unsigned char rackGuid[16];
  unsigned char chassisPhysicalSlotNumber;
  unsigned char computeSlotIndex;
  unsigned char nodeIndex;
  unsigned char peerType;
  unsigned char moduleId;
};
struct nvmlPlatformInfo_v2_t {
  unsigned int version;
  unsigned char ibGuid[16];
  unsigned char chassisSerialNumber[16];
  unsigned char slotNumber;
  unsigned char trayIndex;
  unsigned char hostId;
  unsigned char peerType;
  unsigned char moduleId;
};
using nvmlPlatformInfo_t = nvmlPlatformInfo_v2_t;
struct nvmlEccSramUniqueUncorrectedErrorEntry_v1_t {
  unsigned int unit;
  unsigned int location;
  unsigned int sublocation;
  unsigned int extlocation;
  unsigned int address;
  unsigned int isParity;
  unsigned int count;
};
struct nvmlEccSramUniqueUncorrectedErrorCounts_v1_t {
  unsigned int version;
  unsigned int entryCount;
  nvmlEccSramUniqueUncorrectedErrorEntry_v1_t* entries;
};
using nvmlEccSramUniqueUncorrectedErrorCounts_t = nvmlEccSramUniqueUncorrectedErrorCounts_v1_t;
using nvmlDeviceArchitecture_t = unsigned int;
using nvmlBusType_t = unsigned int;
using nvmlFanControlPolicy_t = unsigned int;
using nvmlPowerSource_t = unsigned int;
enum nvmlGpuUtilizationDomainId_t : unsigned {
  NVML_GPU_UTILIZATION_DOMAIN_GPU = 0,
  NVML_GPU_UTILIZATION_DOMAIN_FB = 1,
  NVML_GPU_UTILIZATION_DOMAIN_VID = 2,
  NVML_GPU_UTILIZATION_DOMAIN_BUS = 3,
};
struct nvmlGpuDynamicPstatesInfo_st_utilization {
  unsigned int bIsPresent;
  unsigned int percentage;
  unsigned int incThreshold;
  unsigned int decThreshold;
};
struct nvmlGpuDynamicPstatesInfo_st {
  unsigned int flags;
  nvmlGpuDynamicPstatesInfo_st_utilization utilization[8];
};
using nvmlGpuDynamicPstatesInfo_t = nvmlGpuDynamicPstatesInfo_st;
using nvmlPowerScopeType_t = unsigned char;
struct nvmlPowerValue_v2_t {
  unsigned int version;
  nvmlPowerScopeType_t powerScope;
  unsigned int powerValueMw;
};
enum nvmlGpuVirtualizationMode : unsigned {
  NVML_GPU_VIRTUALIZATION_MODE_NONE = 0,
  NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH = 1,
  NVML_GPU_VIRTUALIZATION_MODE_VGPU = 2,
  NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU = 3,
  NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA = 4,
};
using nvmlGpuVirtualizationMode_t = nvmlGpuVirtualizationMode;
enum nvmlHostVgpuMode_enum : unsigned {
  NVML_HOST_VGPU_MODE_NON_SRIOV = 0,
  NVML_HOST_VGPU_MODE_SRIOV = 1,
};
using nvmlHostVgpuMode_t = nvmlHostVgpuMode_enum;
enum nvmlVgpuVmIdType : unsigned {
  NVML_VGPU_VM_ID_DOMAIN_ID = 0,
  NVML_VGPU_VM_ID_UUID = 1,
};
using nvmlVgpuVmIdType_t = nvmlVgpuVmIdType;
enum nvmlVgpuGuestInfoState_enum : unsigned {
  NVML_VGPU_INSTANCE_GUEST_INFO_STATE_UNINITIALIZED = 0,
  NVML_VGPU_INSTANCE_GUEST_INFO_STATE_INITIALIZED = 1,
};
using nvmlVgpuGuestInfoState_t = nvmlVgpuGuestInfoState_enum;
enum nvmlGridLicenseFeatureCode_t : unsigned {
  NVML_GRID_LICENSE_FEATURE_CODE_UNKNOWN = 0,
  NVML_GRID_LICENSE_FEATURE_CODE_VGPU = 1,
  NVML_GRID_LICENSE_FEATURE_CODE_NVIDIA_RTX = 2,
  NVML_GRID_LICENSE_FEATURE_CODE_VWORKSTATION = 2,
  NVML_GRID_LICENSE_FEATURE_CODE_GAMING = 3,
  NVML_GRID_LICENSE_FEATURE_CODE_COMPUTE = 4,
};
enum nvmlVgpuCapability_enum : unsigned {
  NVML_VGPU_CAP_NVLINK_P2P = 0,
  NVML_VGPU_CAP_GPUDIRECT = 1,
  NVML_VGPU_CAP_MULTI_VGPU_EXCLUSIVE = 2,
  NVML_VGPU_CAP_EXCLUSIVE_TYPE = 3,
  NVML_VGPU_CAP_EXCLUSIVE_SIZE = 4,
  NVML_VGPU_CAP_COUNT = 5,
};
using nvmlVgpuCapability_t = nvmlVgpuCapability_enum;
enum nvmlVgpuDriverCapability_enum : unsigned {
  NVML_VGPU_DRIVER_CAP_HETEROGENEOUS_MULTI_VGPU = 0,
  NVML_VGPU_DRIVER_CAP_WARM_UPDATE = 1,
  NVML_VGPU_DRIVER_CAP_COUNT = 2,
};
using nvmlVgpuDriverCapability_t = nvmlVgpuDriverCapability_enum;
enum nvmlDeviceVgpuCapability_enum : unsigned {
  NVML_DEVICE_VGPU_CAP_FRACTIONAL_MULTI_VGPU = 0,
  NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_PROFILES = 1,
  NVML_DEVICE_VGPU_CAP_HETEROGENEOUS_TIMESLICE_SIZES = 2,
  NVML_DEVICE_VGPU_CAP_READ_DEVICE_BUFFER_BW = 3,
  NVML_DEVICE_VGPU_CAP_WRITE_DEVICE_BUFFER_BW = 4,
  NVML_DEVICE_VGPU_CAP_DEVICE_STREAMING = 5,
  NVML_DEVICE_VGPU_CAP_MINI_QUARTER_GPU = 6,
  NVML_DEVICE_VGPU_CAP_COMPUTE_MEDIA_ENGINE_GPU = 7,
  NVML_DEVICE_VGPU_CAP_WARM_UPDATE = 8,
  NVML_DEVICE_VGPU_CAP_HOMOGENEOUS_PLACEMENTS = 9,
  NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_SUPPORTED = 10,
  NVML_DEVICE_VGPU_CAP_MIG_TIMESLICING_ENABLED = 11,
  NVML_DEVICE_VGPU_CAP_COUNT = 12,
};
using nvmlDeviceVgpuCapability_t = nvmlDeviceVgpuCapability_enum;
using nvmlVgpuTypeId_t = unsigned int;
using nvmlVgpuInstance_t = unsigned int;
struct nvmlVgpuHeterogeneousMode_v1_t {
  unsigned int version;
  unsigned int mode;
};
using nvmlVgpuHeterogeneousMode_t = nvmlVgpuHeterogeneousMode_v1_t;
struct nvmlVgpuPlacementId_v1_t {
  unsigned int version;
  unsigned int placementId;
};
using nvmlVgpuPlacementId_t = nvmlVgpuPlacementId_v1_t;
struct nvmlVgpuPlacementList_v1_t {
  unsigned int version;
  unsigned int placementSize;
  unsigned int count;
  unsigned int* placementIds;
};
struct nvmlVgpuPlacementList_v2_t {
  unsigned int version;
  unsigned int placementSize;
  unsigned int count;
  unsigned int* placementIds;
  unsigned int mode;
};
using nvmlVgpuPlacementList_t = nvmlVgpuPlacementList_v2_t;
struct nvmlVgpuTypeBar1Info_v1_t {
  unsigned int version;
  unsigned long long bar1Size;
};
using nvmlVgpuTypeBar1Info_t = nvmlVgpuTypeBar1Info_v1_t;
struct nvmlVgpuInstanceUtilizationSample_st {
  nvmlVgpuInstance_t vgpuInstance;
  unsigned long long timeStamp;
  nvmlValue_t smUtil;
  nvmlValue_t memUtil;
  nvmlValue_t encUtil;
  nvmlValue_t decUtil;
};
using nvmlVgpuInstanceUtilizationSample_t = nvmlVgpuInstanceUtilizationSample_st;
struct nvmlVgpuInstanceUtilizationInfo_v1_t {
  unsigned long long timeStamp;
  nvmlVgpuInstance_t vgpuInstance;
  nvmlValue_t smUtil;
  nvmlValue_t memUtil;
  nvmlValue_t encUtil;
  nvmlValue_t decUtil;
  nvmlValue_t jpgUtil;
  nvmlValue_t ofaUtil;
};
struct nvmlVgpuInstancesUtilizationInfo_v1_t {
  unsigned int version;
  nvmlValueType_t sampleValType;
  unsigned int vgpuInstanceCount;
  unsigned long long lastSeenTimeStamp;
  nvmlVgpuInstanceUtilizationInfo_v1_t* vgpuUtilArray;
};
using nvmlVgpuInstancesUtilizationInfo_t = nvmlVgpuInstancesUtilizationInfo_v1_t;
struct nvmlVgpuProcessUtilizationSample_st {
  nvmlVgpuInstance_t vgpuInstance;
  unsigned int pid;
  char processName[64];
  unsigned long long timeStamp;
  unsigned int smUtil;
  unsigned int memUtil;
  unsigned int encUtil;
  unsigned int decUtil;
};
using nvmlVgpuProcessUtilizationSample_t = nvmlVgpuProcessUtilizationSample_st;
struct nvmlVgpuProcessUtilizationInfo_v1_t {
  char processName[64];
  unsigned long long timeStamp;
  nvmlVgpuInstance_t vgpuInstance;
  unsigned int pid;
  unsigned int smUtil;
  unsigned int memUtil;
  unsigned int encUtil;
  unsigned int decUtil;
  unsigned int jpgUtil;
  unsigned int ofaUtil;
};
struct nvmlVgpuProcessesUtilizationInfo_v1_t {
  unsigned int version;
  unsigned int vgpuProcessCount;
  unsigned long long lastSeenTimeStamp;
  nvmlVgpuProcessUtilizationInfo_v1_t* vgpuProcUtilArray;
};
using nvmlVgpuProcessesUtilizationInfo_t = nvmlVgpuProcessesUtilizationInfo_v1_t;
struct nvmlVgpuRuntimeState_v1_t {
  unsigned int version;
  unsigned long long size;
};
using nvmlVgpuRuntimeState_t = nvmlVgpuRuntimeState_v1_t;
union nvmlVgpuSchedulerParams_t {
  struct {
    unsigned int avgFactor;
    unsigned int timeslice;
  } vgpuSchedDataWithARR;
  struct {
    unsigned int timeslice;
  } vgpuSchedData;
};
struct nvmlVgpuSchedulerLogEntries_st {
  unsigned long long timestamp;
  unsigned long long timeRunTotal;
  unsigned long long timeRun;
  unsigned int swRunlistId;
  unsigned long long targetTimeSlice;
  unsigned long long cumulativePreemptionTime;
};
using nvmlVgpuSchedulerLogEntry_t = nvmlVgpuSchedulerLogEntries_st;
struct nvmlVgpuSchedulerLog_st {
  unsigned int engineId;
  unsigned int schedulerPolicy;
  unsigned int arrMode;
  nvmlVgpuSchedulerParams_t schedulerParams;
  unsigned int entriesCount;
  nvmlVgpuSchedulerLogEntry_t logEntries[200];
};
using nvmlVgpuSchedulerLog_t = nvmlVgpuSchedulerLog_st;
struct nvmlVgpuSchedulerGetState_st {
  unsigned int schedulerPolicy;
  unsigned int arrMode;
  nvmlVgpuSchedulerParams_t schedulerParams;
};
using nvmlVgpuSchedulerGetState_t = nvmlVgpuSchedulerGetState_st;
union nvmlVgpuSchedulerSetParams_t {
  struct {
    unsigned int avgFactor;
    unsigned int frequency;
  } vgpuSchedDataWithARR;
  struct {
    unsigned int timeslice;
  } vgpuSchedData;
};
struct nvmlVgpuSchedulerSetState_st {
  unsigned int schedulerPolicy;
  unsigned int enableARRMode;
  nvmlVgpuSchedulerSetParams_t schedulerParams;
};
using nvmlVgpuSchedulerSetState_t = nvmlVgpuSchedulerSetState_st;
struct nvmlVgpuSchedulerCapabilities_st {
  unsigned int supportedSchedulers[3];
  unsigned int maxTimeslice;
  unsigned int minTimeslice;
  unsigned int isArrModeSupported;
  unsigned int maxFrequencyForARR;
  unsigned int minFrequencyForARR;
  unsigned int maxAvgFactorForARR;
  unsigned int minAvgFactorForARR;
};
using nvmlVgpuSchedulerCapabilities_t = nvmlVgpuSchedulerCapabilities_st;
struct nvmlVgpuLicenseExpiry_st {
  unsigned int year;
  unsigned short month;
  unsigned short day;
  unsigned short hour;
  unsigned short min;
  unsigned short sec;
  unsigned char status;
};
using nvmlVgpuLicenseExpiry_t = nvmlVgpuLicenseExpiry_st;
struct nvmlVgpuLicenseInfo_st {
  unsigned char isLicensed;
  nvmlVgpuLicenseExpiry_t licenseExpiry;
  unsigned int currentState;
};
using nvmlVgpuLicenseInfo_t = nvmlVgpuLicenseInfo_st;
struct nvmlGridLicenseExpiry_st {
  unsigned int year;
  unsigned short month;
  unsigned short day;
  unsigned short hour;
  unsigned short min;
  unsigned short sec;
  unsigned char status;
};
using nvmlGridLicenseExpiry_t = nvmlGridLicenseExpiry_st;
struct nvmlGridLicensableFeature_st {
  nvmlGridLicenseFeatureCode_t featureCode;
  unsigned int featureState;
  char licenseInfo[128];
  char productName[128];
  unsigned int featureEnabled;
  nvmlGridLicenseExpiry_t licenseExpiry;
};
using nvmlGridLicensableFeature_t = nvmlGridLicensableFeature_st;
struct nvmlGridLicensableFeatures_st {
  int isGridLicenseSupported;
  unsigned int licensableFeaturesCount;
  nvmlGridLicensableFeature_t gridLicensableFeatures[3];
};
using nvmlGridLicensableFeatures_t = nvmlGridLicensableFeatures_st;
enum nvmlDeviceGpuRecoveryAction_s : unsigned {
  NVML_GPU_RECOVERY_ACTION_NONE = 0,
  NVML_GPU_RECOVERY_ACTION_GPU_RESET = 1,
  NVML_GPU_RECOVERY_ACTION_NODE_REBOOT = 2,
  NVML_GPU_RECOVERY_ACTION_DRAIN_P2P = 3,
  NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET = 4,
};
using nvmlDeviceGpuRecoveryAction_t = nvmlDeviceGpuRecoveryAction_s;
struct nvmlVgpuTypeIdInfo_v1_t {
  unsigned int version;
  unsigned int vgpuCount;
  nvmlVgpuTypeId_t* vgpuTypeIds;
};
using nvmlVgpuTypeIdInfo_t = nvmlVgpuTypeIdInfo_v1_t;
struct nvmlVgpuTypeMaxInstance_v1_t {
  unsigned int version;
  nvmlVgpuTypeId_t vgpuTypeId;
  unsigned int maxInstancePerGI;
};
using nvmlVgpuTypeMaxInstance_t = nvmlVgpuTypeMaxInstance_v1_t;
struct nvmlActiveVgpuInstanceInfo_v1_t {
  unsigned int version;
  unsigned int vgpuCount;
  nvmlVgpuInstance_t* vgpuInstances;
};
using nvmlActiveVgpuInstanceInfo_t = nvmlActiveVgpuInstanceInfo_v1_t;
struct nvmlVgpuSchedulerState_v1_t {
  unsigned int version;
  unsigned int engineId;
  unsigned int schedulerPolicy;
  unsigned int enableARRMode;
  nvmlVgpuSchedulerSetParams_t schedulerParams;
};
using nvmlVgpuSchedulerState_t = nvmlVgpuSchedulerState_v1_t;
struct nvmlVgpuSchedulerStateInfo_v1_t {
  unsigned int version;
  unsigned int engineId;
  unsigned int schedulerPolicy;
  unsigned int arrMode;
  nvmlVgpuSchedulerParams_t schedulerParams;
};
using nvmlVgpuSchedulerStateInfo_t = nvmlVgpuSchedulerStateInfo_v1_t;
struct nvmlVgpuSchedulerLogInfo_v1_t {
  unsigned int version;
  unsigned int engineId;
  unsigned int schedulerPolicy;
  unsigned int arrMode;
  nvmlVgpuSchedulerParams_t schedulerParams;
  unsigned int entriesCount;
  nvmlVgpuSchedulerLogEntry_t logEntries[200];
};
using nvmlVgpuSchedulerLogInfo_t = nvmlVgpuSchedulerLogInfo_v1_t;
struct nvmlVgpuCreatablePlacementInfo_v1_t {
  unsigned int version;
  nvmlVgpuTypeId_t vgpuTypeId;
  unsigned int count;
  unsigned int* placementIds;
  unsigned int placementSize;
};
using nvmlVgpuCreatablePlacementInfo_t = nvmlVgpuCreatablePlacementInfo_v1_t;
struct nvmlNvLinkPowerThres_st {
  unsigned int lowPwrThreshold;
};
using nvmlNvLinkPowerThres_t = nvmlNvLinkPowerThres_st;
struct nvmlFieldValue_st {
  unsigned int fieldId;
  unsigned int scopeId;
  long long timestamp;
  long long latencyUsec;
  nvmlValueType_t valueType;
  nvmlReturn_t nvmlReturn;
  nvmlValue_t value;
};
using nvmlFieldValue_t = nvmlFieldValue_st;
using nvmlUnit_t = nvmlUnit_st*;
struct nvmlHwbcEntry_st {
  unsigned int hwbcId;
  char firmwareVersion[32];
};
using nvmlHwbcEntry_t = nvmlHwbcEntry_st;
enum nvmlFanState_enum : unsigned {
  NVML_FAN_NORMAL = 0,
  NVML_FAN_FAILED = 1,
};
using nvmlFanState_t = nvmlFanState_enum;
enum nvmlLedColor_enum : unsigned {
  NVML_LED_COLOR_GREEN = 0,
  NVML_LED_COLOR_AMBER = 1,
};
using nvmlLedColor_t = nvmlLedColor_enum;
struct nvmlLedState_st {
  char cause[256];
  nvmlLedColor_t color;
};
using nvmlLedState_t = nvmlLedState_st;
struct nvmlUnitInfo_st {
  char name[96];
  char id[96];
  char serial[96];
  char firmwareVersion[96];
};
using nvmlUnitInfo_t = nvmlUnitInfo_st;
struct nvmlPSUInfo_st {
  char state[256];
  unsigned int current;
  unsigned int voltage;
  unsigned int power;
};
using nvmlPSUInfo_t = nvmlPSUInfo_st;
struct nvmlUnitFanInfo_st {
  unsigned int speed;
  nvmlFanState_t state;
};
using nvmlUnitFanInfo_t = nvmlUnitFanInfo_st;
struct nvmlUnitFanSpeeds_st {
  nvmlUnitFanInfo_t fans[24];
  unsigned int count;
};
using nvmlUnitFanSpeeds_t = nvmlUnitFanSpeeds_st;
using nvmlEventSet_t = nvmlEventSet_st*;
struct nvmlEventData_st {
  nvmlDevice_t device;
  unsigned long long eventType;
  unsigned long long eventData;
  unsigned int gpuInstanceId;
  unsigned int computeInstanceId;
};
using nvmlEventData_t = nvmlEventData_st;
using nvmlSystemEventSet_t = nvmlSystemEventSet_st*;
struct nvmlSystemEventSetCreateRequest_v1_t {
  unsigned int version;
  nvmlSystemEventSet_t set;
};
using nvmlSystemEventSetCreateRequest_t = nvmlSystemEventSetCreateRequest_v1_t;
struct nvmlSystemEventSetFreeRequest_v1_t {
  unsigned int version;
  nvmlSystemEventSet_t set;
};
using nvmlSystemEventSetFreeRequest_t = nvmlSystemEventSetFreeRequest_v1_t;
struct nvmlSystemRegisterEventRequest_v1_t {
  unsigned int version;
  unsigned long long eventTypes;
  nvmlSystemEventSet_t set;
};
using nvmlSystemRegisterEventRequest_t = nvmlSystemRegisterEventRequest_v1_t;
struct nvmlSystemEventData_v1_t {
  unsigned long long eventType;
  unsigned int gpuId;
};
struct nvmlSystemEventSetWaitRequest_v1_t {
  unsigned int version;
  unsigned int timeoutms;
  nvmlSystemEventSet_t set;
  nvmlSystemEventData_v1_t* data;
  unsigned int dataSize;
  unsigned int numEvent;
};
using nvmlSystemEventSetWaitRequest_t = nvmlSystemEventSetWaitRequest_v1_t;
struct nvmlAccountingStats_st {
  unsigned int gpuUtilization;
  unsigned int memoryUtilization;
  unsigned long long maxMemoryUsage;
  unsigned long long time;
  unsigned long long startTime;
  unsigned int isRunning;
  unsigned int reserved[5];
};
using nvmlAccountingStats_t = nvmlAccountingStats_st;
enum nvmlEncoderQueryType_enum : unsigned {
  NVML_ENCODER_QUERY_H264 = 0,
  NVML_ENCODER_QUERY_HEVC = 1,
  NVML_ENCODER_QUERY_AV1 = 2,
  NVML_ENCODER_QUERY_UNKNOWN = 255,
};
using nvmlEncoderType_t = nvmlEncoderQueryType_enum;
struct nvmlEncoderSessionInfo_st {
  unsigned int sessionId;
  unsigned int pid;
  nvmlVgpuInstance_t vgpuInstance;
  nvmlEncoderType_t codecType;
  unsigned int hResolution;
  unsigned int vResolution;
  unsigned int averageFps;
  unsigned int averageLatency;
};
using nvmlEncoderSessionInfo_t = nvmlEncoderSessionInfo_st;
enum nvmlFBCSessionType_enum : unsigned {
  NVML_FBC_SESSION_TYPE_UNKNOWN = 0,
  NVML_FBC_SESSION_TYPE_TOSYS = 1,
  NVML_FBC_SESSION_TYPE_CUDA = 2,
  NVML_FBC_SESSION_TYPE_VID = 3,
  NVML_FBC_SESSION_TYPE_HWENC = 4,
};
using nvmlFBCSessionType_t = nvmlFBCSessionType_enum;
struct nvmlFBCStats_st {
  unsigned int sessionsCount;
  unsigned int averageFPS;
  unsigned int averageLatency;
};
using nvmlFBCStats_t = nvmlFBCStats_st;
struct nvmlFBCSessionInfo_st {
  unsigned int sessionId;
  unsigned int pid;
  nvmlVgpuInstance_t vgpuInstance;
  unsigned int displayOrdinal;
  nvmlFBCSessionType_t sessionType;
  unsigned int sessionFlags;
  unsigned int hMaxResolution;
  unsigned int vMaxResolution;
  unsigned int hResolution;
  unsigned int vResolution;
  unsigned int averageFPS;
  unsigned int averageLatency;
};
using nvmlFBCSessionInfo_t = nvmlFBCSessionInfo_st;
enum nvmlDetachGpuState_enum : unsigned {
  NVML_DETACH_GPU_KEEP = 0,
  NVML_DETACH_GPU_REMOVE = 1,
};
using nvmlDetachGpuState_t = nvmlDetachGpuState_enum;
enum nvmlPcieLinkState_enum : unsigned {
  NVML_PCIE_LINK_KEEP = 0,
  NVML_PCIE_LINK_SHUT_DOWN = 1,
};
using nvmlPcieLinkState_t = nvmlPcieLinkState_enum;
struct nvmlConfComputeSystemCaps_st {
  unsigned int cpuCaps;
  unsigned int gpusCaps;
};
using nvmlConfComputeSystemCaps_t = nvmlConfComputeSystemCaps_st;
struct nvmlConfComputeSystemState_st {
  unsigned int environment;
  unsigned int ccFeature;
  unsigned int devToolsMode;
};
using nvmlConfComputeSystemState_t = nvmlConfComputeSystemState_st;
struct nvmlSystemConfComputeSettings_v1_t {
  unsigned int version;
  unsigned int environment;
  unsigned int ccFeature;
  unsigned int devToolsMode;
  unsigned int multiGpuMode;
};
using nvmlSystemConfComputeSettings_t = nvmlSystemConfComputeSettings_v1_t;
struct nvmlConfComputeMemSizeInfo_st {
  unsigned long long protectedMemSizeKib;
  unsigned long long unprotectedMemSizeKib;
};
using nvmlConfComputeMemSizeInfo_t = nvmlConfComputeMemSizeInfo_st;
struct nvmlConfComputeGpuCertificate_st {
  unsigned int certChainSize;
  unsigned int attestationCertChainSize;
  unsigned char certChain[4096];
  unsigned char attestationCertChain[5120];
};
using nvmlConfComputeGpuCertificate_t = nvmlConfComputeGpuCertificate_st;
struct nvmlConfComputeGpuAttestationReport_st {
  unsigned int isCecAttestationReportPresent;
  unsigned int attestationReportSize;
  unsigned int cecAttestationReportSize;
  unsigned char nonce[32];
  unsigned char attestationReport[8192];
  unsigned char cecAttestationReport[4096];
};
using nvmlConfComputeGpuAttestationReport_t = nvmlConfComputeGpuAttestationReport_st;
struct nvmlConfComputeSetKeyRotationThresholdInfo_st {
  unsigned int version;
  unsigned long long maxAttackerAdvantage;
};
using nvmlConfComputeSetKeyRotationThresholdInfo_v1_t = nvmlConfComputeSetKeyRotationThresholdInfo_st;
using nvmlConfComputeSetKeyRotationThresholdInfo_t = nvmlConfComputeSetKeyRotationThresholdInfo_v1_t;
struct nvmlConfComputeGetKeyRotationThresholdInfo_st {
  unsigned int version;
  unsigned long long attackerAdvantage;
};
using nvmlConfComputeGetKeyRotationThresholdInfo_v1_t = nvmlConfComputeGetKeyRotationThresholdInfo_st;
using nvmlConfComputeGetKeyRotationThresholdInfo_t = nvmlConfComputeGetKeyRotationThresholdInfo_v1_t;
using nvmlGpuFabricState_t = unsigned char;
struct nvmlGpuFabricInfo_t {
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned int cliqueId;
  nvmlGpuFabricState_t state;
};
struct nvmlGpuFabricInfo_v2_t {
  unsigned int version;
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned int cliqueId;
  nvmlGpuFabricState_t state;
  unsigned int healthMask;
};
struct nvmlGpuFabricInfo_v3_t {
  unsigned int version;
  unsigned char clusterUuid[16];
  nvmlReturn_t status;
  unsigned int cliqueId;
  nvmlGpuFabricState_t state;
  unsigned int healthMask;
  unsigned char healthSummary;
};
using nvmlGpuFabricInfoV_t = nvmlGpuFabricInfo_v3_t;
struct nvmlSystemDriverBranchInfo_v1_t {
  unsigned int version;
  char branch[80];
};
using nvmlSystemDriverBranchInfo_t = nvmlSystemDriverBranchInfo_v1_t;
using nvmlAffinityScope_t = unsigned int;
struct nvmlTemperature_v1_t {
  unsigned int version;
  nvmlTemperatureSensors_t sensorType;
  int temperature;
};
using nvmlTemperature_t = nvmlTemperature_v1_t;
enum nvmlClockLimitId_enum : unsigned {
  NVML_CLOCK_LIMIT_ID_RANGE_START = 4294967040,
  NVML_CLOCK_LIMIT_ID_TDP = 4294967041,
  NVML_CLOCK_LIMIT_ID_UNLIMITED = 4294967042,
};
using nvmlClockLimitId_t = nvmlClockLimitId_enum;
struct nvmlNvlinkSupportedBwModes_v1_t {
  unsigned int version;
  unsigned char bwModes[23];
  unsigned char totalBwModes;
};
using nvmlNvlinkSupportedBwModes_t = nvmlNvlinkSupportedBwModes_v1_t;
struct nvmlNvlinkGetBwMode_v1_t {
  unsigned int version;
  unsigned int bIsBest;
  unsigned char bwMode;
};
using nvmlNvlinkGetBwMode_t = nvmlNvlinkGetBwMode_v1_t;
struct nvmlNvlinkSetBwMode_v1_t {
  unsigned int version;
  unsigned int bSetBest;
  unsigned char bwMode;
};
using nvmlNvlinkSetBwMode_t = nvmlNvlinkSetBwMode_v1_t;
struct nvmlNvLinkInfo_v1_t {
  unsigned int version;
  unsigned int isNvleEnabled;
};
struct nvmlNvlinkFirmwareVersion_t {
  unsigned char ucodeType;
  unsigned int major;
  unsigned int minor;
  unsigned int subMinor;
};
struct nvmlNvlinkFirmwareInfo_t {
  nvmlNvlinkFirmwareVersion_t firmwareVersion[100];
  unsigned int numValidEntries;
};
struct nvmlNvLinkInfo_v2_t {
  unsigned int version;
  unsigned int isNvleEnabled;
  nvmlNvlinkFirmwareInfo_t firmwareInfo;
};
using nvmlNvLinkInfo_t = nvmlNvLinkInfo_v2_t;
struct nvmlVgpuVersion_st {
  unsigned int minVersion;
  unsigned int maxVersion;
};
using nvmlVgpuVersion_t = nvmlVgpuVersion_st;
struct nvmlVgpuMetadata_st {
  unsigned int version;
  unsigned int revision;
  nvmlVgpuGuestInfoState_t guestInfoState;
  char guestDriverVersion[80];
  char hostDriverVersion[80];
  unsigned int reserved[6];
  unsigned int vgpuVirtualizationCaps;
  unsigned int guestVgpuVersion;
  unsigned int opaqueDataSize;
  char opaqueData[4];
};
using nvmlVgpuMetadata_t = nvmlVgpuMetadata_st;
struct nvmlVgpuPgpuMetadata_st {
  unsigned int version;
  unsigned int revision;
  char hostDriverVersion[80];
  unsigned int pgpuVirtualizationCaps;
  unsigned int reserved[5];
  nvmlVgpuVersion_t hostSupportedVgpuRange;
  unsigned int opaqueDataSize;
  char opaqueData[4];
};
using nvmlVgpuPgpuMetadata_t = nvmlVgpuPgpuMetadata_st;
enum nvmlVgpuVmCompatibility_enum : unsigned {
  NVML_VGPU_VM_COMPATIBILITY_NONE = 0,
  NVML_VGPU_VM_COMPATIBILITY_COLD = 1,
  NVML_VGPU_VM_COMPATIBILITY_HIBERNATE = 2,
  NVML_VGPU_VM_COMPATIBILITY_SLEEP = 4,
  NVML_VGPU_VM_COMPATIBILITY_LIVE = 8,
};
using nvmlVgpuVmCompatibility_t = nvmlVgpuVmCompatibility_enum;
enum nvmlVgpuPgpuCompatibilityLimitCode_enum : unsigned {
  NVML_VGPU_COMPATIBILITY_LIMIT_NONE = 0,
  NVML_VGPU_COMPATIBILITY_LIMIT_HOST_DRIVER = 1,
  NVML_VGPU_COMPATIBILITY_LIMIT_GUEST_DRIVER = 2,
  NVML_VGPU_COMPATIBILITY_LIMIT_GPU = 4,
  NVML_VGPU_COMPATIBILITY_LIMIT_OTHER = 2147483648,
};
using nvmlVgpuPgpuCompatibilityLimitCode_t = nvmlVgpuPgpuCompatibilityLimitCode_enum;
struct nvmlVgpuPgpuCompatibility_st {
  nvmlVgpuVmCompatibility_t vgpuVmCompatibility;
  nvmlVgpuPgpuCompatibilityLimitCode_t compatibilityLimitCode;
};
using nvmlVgpuPgpuCompatibility_t = nvmlVgpuPgpuCompatibility_st;
struct nvmlExcludedDeviceInfo_st {
  nvmlPciInfo_t pciInfo;
  char uuid[80];
};
using nvmlExcludedDeviceInfo_t = nvmlExcludedDeviceInfo_st;
struct nvmlPRMTLV_v1_t {
  unsigned int dataSize;
  unsigned int status;
  union {
    unsigned char inData[496];
    unsigned char outData[496];
  };
};
struct nvmlGpuInstancePlacement_st {
  unsigned int start;
  unsigned int size;
};
using nvmlGpuInstancePlacement_t = nvmlGpuInstancePlacement_st;
struct nvmlGpuInstanceProfileInfo_st {
  unsigned int id;
  unsigned int isP2pSupported;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int copyEngineCount;
  unsigned int decoderCount;
  unsigned int encoderCount;
  unsigned int jpegCount;
  unsigned int ofaCount;
  unsigned long long memorySizeMB;
};
using nvmlGpuInstanceProfileInfo_t = nvmlGpuInstanceProfileInfo_st;
struct nvmlGpuInstanceProfileInfo_v2_st {
  unsigned int version;
  unsigned int id;
  unsigned int isP2pSupported;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int copyEngineCount;
  unsigned int decoderCount;
  unsigned int encoderCount;
  unsigned int jpegCount;
  unsigned int ofaCount;
  unsigned long long memorySizeMB;
  char name[96];
};
using nvmlGpuInstanceProfileInfo_v2_t = nvmlGpuInstanceProfileInfo_v2_st;
struct nvmlGpuInstanceProfileInfo_v3_st {
  unsigned int version;
  unsigned int id;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int copyEngineCount;
  unsigned int decoderCount;
  unsigned int encoderCount;
  unsigned int jpegCount;
  unsigned int ofaCount;
  unsigned long long memorySizeMB;
  char name[96];
  unsigned int capabilities;
};
using nvmlGpuInstanceProfileInfo_v3_t = nvmlGpuInstanceProfileInfo_v3_st;
struct nvmlGpuInstanceInfo_st {
  nvmlDevice_t device;
  unsigned int id;
  unsigned int profileId;
  nvmlGpuInstancePlacement_t placement;
};
using nvmlGpuInstanceInfo_t = nvmlGpuInstanceInfo_st;
struct nvmlComputeInstancePlacement_st {
  unsigned int start;
  unsigned int size;
};
using nvmlComputeInstancePlacement_t = nvmlComputeInstancePlacement_st;
struct nvmlComputeInstanceProfileInfo_st {
  unsigned int id;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int sharedCopyEngineCount;
  unsigned int sharedDecoderCount;
  unsigned int sharedEncoderCount;
  unsigned int sharedJpegCount;
  unsigned int sharedOfaCount;
};
using nvmlComputeInstanceProfileInfo_t = nvmlComputeInstanceProfileInfo_st;
struct nvmlComputeInstanceProfileInfo_v2_st {
  unsigned int version;
  unsigned int id;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int sharedCopyEngineCount;
  unsigned int sharedDecoderCount;
  unsigned int sharedEncoderCount;
  unsigned int sharedJpegCount;
  unsigned int sharedOfaCount;
  char name[96];
};
using nvmlComputeInstanceProfileInfo_v2_t = nvmlComputeInstanceProfileInfo_v2_st;
struct nvmlComputeInstanceProfileInfo_v3_st {
  unsigned int version;
  unsigned int id;
  unsigned int sliceCount;
  unsigned int instanceCount;
  unsigned int multiprocessorCount;
  unsigned int sharedCopyEngineCount;
  unsigned int sharedDecoderCount;
  unsigned int sharedEncoderCount;
  unsigned int sharedJpegCount;
  unsigned int sharedOfaCount;
  char name[96];
  unsigned int capabilities;
};
using nvmlComputeInstanceProfileInfo_v3_t = nvmlComputeInstanceProfileInfo_v3_st;
struct nvmlComputeInstanceInfo_st {
  nvmlDevice_t device;
  nvmlGpuInstance_t gpuInstance;
  unsigned int id;
  unsigned int profileId;
  nvmlComputeInstancePlacement_t placement;
};
using nvmlComputeInstanceInfo_t = nvmlComputeInstanceInfo_st;
using nvmlComputeInstance_t = nvmlComputeInstance_st*;
enum nvmlGpmMetricId_t : unsigned {
  NVML_GPM_METRIC_GRAPHICS_UTIL = 1,
  NVML_GPM_METRIC_SM_UTIL = 2,
  NVML_GPM_METRIC_SM_OCCUPANCY = 3,
  NVML_GPM_METRIC_INTEGER_UTIL = 4,
  NVML_GPM_METRIC_ANY_TENSOR_UTIL = 5,
  NVML_GPM_METRIC_DFMA_TENSOR_UTIL = 6,
  NVML_GPM_METRIC_HMMA_TENSOR_UTIL = 7,
  NVML_GPM_METRIC_IMMA_TENSOR_UTIL = 9,
  NVML_GPM_METRIC_DRAM_BW_UTIL = 10,
  NVML_GPM_METRIC_FP64_UTIL = 11,
  NVML_GPM_METRIC_FP32_UTIL = 12,
  NVML_GPM_METRIC_FP16_UTIL = 13,
  NVML_GPM_METRIC_PCIE_TX_PER_SEC = 20,
  NVML_GPM_METRIC_PCIE_RX_PER_SEC = 21,
  NVML_GPM_METRIC_NVDEC_0_UTIL = 30,
  NVML_GPM_METRIC_NVDEC_1_UTIL = 31,
  NVML_GPM_METRIC_NVDEC_2_UTIL = 32,
  NVML_GPM_METRIC_NVDEC_3_UTIL = 33,
  NVML_GPM_METRIC_NVDEC_4_UTIL = 34,
  NVML_GPM_METRIC_NVDEC_5_UTIL = 35,
  NVML_GPM_METRIC_NVDEC_6_UTIL = 36,
  NVML_GPM_METRIC_NVDEC_7_UTIL = 37,
  NVML_GPM_METRIC_NVJPG_0_UTIL = 40,
  NVML_GPM_METRIC_NVJPG_1_UTIL = 41,
  NVML_GPM_METRIC_NVJPG_2_UTIL = 42,
  NVML_GPM_METRIC_NVJPG_3_UTIL = 43,
  NVML_GPM_METRIC_NVJPG_4_UTIL = 44,
  NVML_GPM_METRIC_NVJPG_5_UTIL = 45,
  NVML_GPM_METRIC_NVJPG_6_UTIL = 46,
  NVML_GPM_METRIC_NVJPG_7_UTIL = 47,
  NVML_GPM_METRIC_NVOFA_0_UTIL = 50,
  NVML_GPM_METRIC_NVOFA_1_UTIL = 51,
  NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC = 60,
  NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC = 61,
  NVML_GPM_METRIC_NVLINK_L0_RX_PER_SEC = 62,
  NVML_GPM_METRIC_NVLINK_L0_TX_PER_SEC = 63,
  NVML_GPM_METRIC_NVLINK_L1_RX_PER_SEC = 64,
  NVML_GPM_METRIC_NVLINK_L1_TX_PER_SEC = 65,
  NVML_GPM_METRIC_NVLINK_L2_RX_PER_SEC = 66,
  NVML_GPM_METRIC_NVLINK_L2_TX_PER_SEC = 67,
  NVML_GPM_METRIC_NVLINK_L3_RX_PER_SEC = 68,
  NVML_GPM_METRIC_NVLINK_L3_TX_PER_SEC = 69,
  NVML_GPM_METRIC_NVLINK_L4_RX_PER_SEC = 70,
  NVML_GPM_METRIC_NVLINK_L4_TX_PER_SEC = 71,
  NVML_GPM_METRIC_NVLINK_L5_RX_PER_SEC = 72,
  NVML_GPM_METRIC_NVLINK_L5_TX_PER_SEC = 73,
  NVML_GPM_METRIC_NVLINK_L6_RX_PER_SEC = 74,
  NVML_GPM_METRIC_NVLINK_L6_TX_PER_SEC = 75,
  NVML_GPM_METRIC_NVLINK_L7_RX_PER_SEC = 76,
  NVML_GPM_METRIC_NVLINK_L7_TX_PER_SEC = 77,
  NVML_GPM_METRIC_NVLINK_L8_RX_PER_SEC = 78,
  NVML_GPM_METRIC_NVLINK_L8_TX_PER_SEC = 79,
  NVML_GPM_METRIC_NVLINK_L9_RX_PER_SEC = 80,
  NVML_GPM_METRIC_NVLINK_L9_TX_PER_SEC = 81,
  NVML_GPM_METRIC_NVLINK_L10_RX_PER_SEC = 82,
  NVML_GPM_METRIC_NVLINK_L10_TX_PER_SEC = 83,
  NVML_GPM_METRIC_NVLINK_L11_RX_PER_SEC = 84,
  NVML_GPM_METRIC_NVLINK_L11_TX_PER_SEC = 85,
  NVML_GPM_METRIC_NVLINK_L12_RX_PER_SEC = 86,
  NVML_GPM_METRIC_NVLINK_L12_TX_PER_SEC = 87,
  NVML_GPM_METRIC_NVLINK_L13_RX_PER_SEC = 88,
  NVML_GPM_METRIC_NVLINK_L13_TX_PER_SEC = 89,
  NVML_GPM_METRIC_NVLINK_L14_RX_PER_SEC = 90,
  NVML_GPM_METRIC_NVLINK_L14_TX_PER_SEC = 91,
  NVML_GPM_METRIC_NVLINK_L15_RX_PER_SEC = 92,
  NVML_GPM_METRIC_NVLINK_L15_TX_PER_SEC = 93,
  NVML_GPM_METRIC_NVLINK_L16_RX_PER_SEC = 94,
  NVML_GPM_METRIC_NVLINK_L16_TX_PER_SEC = 95,
  NVML_GPM_METRIC_NVLINK_L17_RX_PER_SEC = 96,
  NVML_GPM_METRIC_NVLINK_L17_TX_PER_SEC = 97,
  NVML_GPM_METRIC_C2C_TOTAL_TX_PER_SEC = 100,
  NVML_GPM_METRIC_C2C_TOTAL_RX_PER_SEC = 101,
  NVML_GPM_METRIC_C2C_DATA_TX_PER_SEC = 102,
  NVML_GPM_METRIC_C2C_DATA_RX_PER_SEC = 103,
  NVML_GPM_METRIC_C2C_LINK0_TOTAL_TX_PER_SEC = 104,
  NVML_GPM_METRIC_C2C_LINK0_TOTAL_RX_PER_SEC = 105,
  NVML_GPM_METRIC_C2C_LINK0_DATA_TX_PER_SEC = 106,
  NVML_GPM_METRIC_C2C_LINK0_DATA_RX_PER_SEC = 107,
  NVML_GPM_METRIC_C2C_LINK1_TOTAL_TX_PER_SEC = 108,
  NVML_GPM_METRIC_C2C_LINK1_TOTAL_RX_PER_SEC = 109,
  NVML_GPM_METRIC_C2C_LINK1_DATA_TX_PER_SEC = 110,
  NVML_GPM_METRIC_C2C_LINK1_DATA_RX_PER_SEC = 111,
  NVML_GPM_METRIC_C2C_LINK2_TOTAL_TX_PER_SEC = 112,
  NVML_GPM_METRIC_C2C_LINK2_TOTAL_RX_PER_SEC = 113,
  NVML_GPM_METRIC_C2C_LINK2_DATA_TX_PER_SEC = 114,
  NVML_GPM_METRIC_C2C_LINK2_DATA_RX_PER_SEC = 115,
  NVML_GPM_METRIC_C2C_LINK3_TOTAL_TX_PER_SEC = 116,
  NVML_GPM_METRIC_C2C_LINK3_TOTAL_RX_PER_SEC = 117,
  NVML_GPM_METRIC_C2C_LINK3_DATA_TX_PER_SEC = 118,
  NVML_GPM_METRIC_C2C_LINK3_DATA_RX_PER_SEC = 119,
  NVML_GPM_METRIC_C2C_LINK4_TOTAL_TX_PER_SEC = 120,
  NVML_GPM_METRIC_C2C_LINK4_TOTAL_RX_PER_SEC = 121,
  NVML_GPM_METRIC_C2C_LINK4_DATA_TX_PER_SEC = 122,
  NVML_GPM_METRIC_C2C_LINK4_DATA_RX_PER_SEC = 123,
  NVML_GPM_METRIC_C2C_LINK5_TOTAL_TX_PER_SEC = 124,
  NVML_GPM_METRIC_C2C_LINK5_TOTAL_RX_PER_SEC = 125,
  NVML_GPM_METRIC_C2C_LINK5_DATA_TX_PER_SEC = 126,
  NVML_GPM_METRIC_C2C_LINK5_DATA_RX_PER_SEC = 127,
  NVML_GPM_METRIC_C2C_LINK6_TOTAL_TX_PER_SEC = 128,
  NVML_GPM_METRIC_C2C_LINK6_TOTAL_RX_PER_SEC = 129,
  NVML_GPM_METRIC_C2C_LINK6_DATA_TX_PER_SEC = 130,
  NVML_GPM_METRIC_C2C_LINK6_DATA_RX_PER_SEC = 131,
  NVML_GPM_METRIC_C2C_LINK7_TOTAL_TX_PER_SEC = 132,
  NVML_GPM_METRIC_C2C_LINK7_TOTAL_RX_PER_SEC = 133,
  NVML_GPM_METRIC_C2C_LINK7_DATA_TX_PER_SEC = 134,
  NVML_GPM_METRIC_C2C_LINK7_DATA_RX_PER_SEC = 135,
  NVML_GPM_METRIC_C2C_LINK8_TOTAL_TX_PER_SEC = 136,
  NVML_GPM_METRIC_C2C_LINK8_TOTAL_RX_PER_SEC = 137,
  NVML_GPM_METRIC_C2C_LINK8_DATA_TX_PER_SEC = 138,
  NVML_GPM_METRIC_C2C_LINK8_DATA_RX_PER_SEC = 139,
  NVML_GPM_METRIC_C2C_LINK9_TOTAL_TX_PER_SEC = 140,
  NVML_GPM_METRIC_C2C_LINK9_TOTAL_RX_PER_SEC = 141,
  NVML_GPM_METRIC_C2C_LINK9_DATA_TX_PER_SEC = 142,
  NVML_GPM_METRIC_C2C_LINK9_DATA_RX_PER_SEC = 143,
  NVML_GPM_METRIC_C2C_LINK10_TOTAL_TX_PER_SEC = 144,
  NVML_GPM_METRIC_C2C_LINK10_TOTAL_RX_PER_SEC = 145,
  NVML_GPM_METRIC_C2C_LINK10_DATA_TX_PER_SEC = 146,
  NVML_GPM_METRIC_C2C_LINK10_DATA_RX_PER_SEC = 147,
  NVML_GPM_METRIC_C2C_LINK11_TOTAL_TX_PER_SEC = 148,
  NVML_GPM_METRIC_C2C_LINK11_TOTAL_RX_PER_SEC = 149,
  NVML_GPM_METRIC_C2C_LINK11_DATA_TX_PER_SEC = 150,
  NVML_GPM_METRIC_C2C_LINK11_DATA_RX_PER_SEC = 151,
  NVML_GPM_METRIC_C2C_LINK12_TOTAL_TX_PER_SEC = 152,
  NVML_GPM_METRIC_C2C_LINK12_TOTAL_RX_PER_SEC = 153,
  NVML_GPM_METRIC_C2C_LINK12_DATA_TX_PER_SEC = 154,
  NVML_GPM_METRIC_C2C_LINK12_DATA_RX_PER_SEC = 155,
  NVML_GPM_METRIC_C2C_LINK13_TOTAL_TX_PER_SEC = 156,
  NVML_GPM_METRIC_C2C_LINK13_TOTAL_RX_PER_SEC = 157,
  NVML_GPM_METRIC_C2C_LINK13_DATA_TX_PER_SEC = 158,
  NVML_GPM_METRIC_C2C_LINK13_DATA_RX_PER_SEC = 159,
  NVML_GPM_METRIC_HOSTMEM_CACHE_HIT = 160,
  NVML_GPM_METRIC_HOSTMEM_CACHE_MISS = 161,
  NVML_GPM_METRIC_PEERMEM_CACHE_HIT = 162,
  NVML_GPM_METRIC_PEERMEM_CACHE_MISS = 163,
  NVML_GPM_METRIC_DRAM_CACHE_HIT = 164,
  NVML_GPM_METRIC_DRAM_CACHE_MISS = 165,
  NVML_GPM_METRIC_NVENC_0_UTIL = 166,
  NVML_GPM_METRIC_NVENC_1_UTIL = 167,
  NVML_GPM_METRIC_NVENC_2_UTIL = 168,
  NVML_GPM_METRIC_NVENC_3_UTIL = 169,
  NVML_GPM_METRIC_GR0_CTXSW_CYCLES_ELAPSED = 170,
  NVML_GPM_METRIC_GR0_CTXSW_CYCLES_ACTIVE = 171,
  NVML_GPM_METRIC_GR0_CTXSW_REQUESTS = 172,
  NVML_GPM_METRIC_GR0_CTXSW_CYCLES_PER_REQ = 173,
  NVML_GPM_METRIC_GR0_CTXSW_ACTIVE_PCT = 174,
  NVML_GPM_METRIC_GR1_CTXSW_CYCLES_ELAPSED = 175,
  NVML_GPM_METRIC_GR1_CTXSW_CYCLES_ACTIVE = 176,
  NVML_GPM_METRIC_GR1_CTXSW_REQUESTS = 177,
  NVML_GPM_METRIC_GR1_CTXSW_CYCLES_PER_REQ = 178,
  NVML_GPM_METRIC_GR1_CTXSW_ACTIVE_PCT = 179,
  NVML_GPM_METRIC_GR2_CTXSW_CYCLES_ELAPSED = 180,
  NVML_GPM_METRIC_GR2_CTXSW_CYCLES_ACTIVE = 181,
  NVML_GPM_METRIC_GR2_CTXSW_REQUESTS = 182,
  NVML_GPM_METRIC_GR2_CTXSW_CYCLES_PER_REQ = 183,
  NVML_GPM_METRIC_GR2_CTXSW_ACTIVE_PCT = 184,
  NVML_GPM_METRIC_GR3_CTXSW_CYCLES_ELAPSED = 185,
  NVML_GPM_METRIC_GR3_CTXSW_CYCLES_ACTIVE = 186,
  NVML_GPM_METRIC_GR3_CTXSW_REQUESTS = 187,
  NVML_GPM_METRIC_GR3_CTXSW_CYCLES_PER_REQ = 188,
  NVML_GPM_METRIC_GR3_CTXSW_ACTIVE_PCT = 189,
  NVML_GPM_METRIC_GR4_CTXSW_CYCLES_ELAPSED = 190,
  NVML_GPM_METRIC_GR4_CTXSW_CYCLES_ACTIVE = 191,
  NVML_GPM_METRIC_GR4_CTXSW_REQUESTS = 192,
  NVML_GPM_METRIC_GR4_CTXSW_CYCLES_PER_REQ = 193,
  NVML_GPM_METRIC_GR4_CTXSW_ACTIVE_PCT = 194,
  NVML_GPM_METRIC_GR5_CTXSW_CYCLES_ELAPSED = 195,
  NVML_GPM_METRIC_GR5_CTXSW_CYCLES_ACTIVE = 196,
  NVML_GPM_METRIC_GR5_CTXSW_REQUESTS = 197,
  NVML_GPM_METRIC_GR5_CTXSW_CYCLES_PER_REQ = 198,
  NVML_GPM_METRIC_GR5_CTXSW_ACTIVE_PCT = 199,
  NVML_GPM_METRIC_GR6_CTXSW_CYCLES_ELAPSED = 200,
  NVML_GPM_METRIC_GR6_CTXSW_CYCLES_ACTIVE = 201,
  NVML_GPM_METRIC_GR6_CTXSW_REQUESTS = 202,
  NVML_GPM_METRIC_GR6_CTXSW_CYCLES_PER_REQ = 203,
  NVML_GPM_METRIC_GR6_CTXSW_ACTIVE_PCT = 204,
  NVML_GPM_METRIC_GR7_CTXSW_CYCLES_ELAPSED = 205,
  NVML_GPM_METRIC_GR7_CTXSW_CYCLES_ACTIVE = 206,
  NVML_GPM_METRIC_GR7_CTXSW_REQUESTS = 207,
  NVML_GPM_METRIC_GR7_CTXSW_CYCLES_PER_REQ = 208,
  NVML_GPM_METRIC_GR7_CTXSW_ACTIVE_PCT = 209,
  NVML_GPM_METRIC_MAX = 210,
};
using nvmlGpmSample_t = nvmlGpmSample_st*;
struct nvmlGpmMetric_t {
  unsigned int metricId;
  nvmlReturn_t nvmlReturn;
  double value;
  struct {
    char* shortName;
    char* longName;
    char* unit;
  } metricInfo;
};
struct nvmlGpmMetricsGet_t {
  unsigned int version;
  unsigned int numMetrics;
  nvmlGpmSample_t sample1;
  nvmlGpmSample_t sample2;
  nvmlGpmMetric_t metrics[210];
};
struct nvmlGpmSupport_t {
  unsigned int version;
  unsigned int isSupportedDevice;
};
struct nvmlDeviceCapabilities_v1_t {
  unsigned int version;
  unsigned int capMask;
};
using nvmlDeviceCapabilities_t = nvmlDeviceCapabilities_v1_t;
struct nvmlMask255_t {
  unsigned int mask[8];
};
enum nvmlPowerProfileType_t : unsigned {
  NVML_POWER_PROFILE_MAX_P = 0,
  NVML_POWER_PROFILE_MAX_Q = 1,
  NVML_POWER_PROFILE_COMPUTE = 2,
  NVML_POWER_PROFILE_MEMORY_BOUND = 3,
  NVML_POWER_PROFILE_NETWORK = 4,
  NVML_POWER_PROFILE_BALANCED = 5,
  NVML_POWER_PROFILE_LLM_INFERENCE = 6,
  NVML_POWER_PROFILE_LLM_TRAINING = 7,
  NVML_POWER_PROFILE_RBM = 8,
  NVML_POWER_PROFILE_DCPCIE = 9,
  NVML_POWER_PROFILE_HMMA_SPARSE = 10,
  NVML_POWER_PROFILE_HMMA_DENSE = 11,
  NVML_POWER_PROFILE_SYNC_BALANCED = 12,
  NVML_POWER_PROFILE_HPC = 13,
  NVML_POWER_PROFILE_MIG = 14,
  NVML_POWER_PROFILE_MAX = 15,
};
struct nvmlWorkloadPowerProfileInfo_v1_t {
  unsigned int version;
  unsigned int profileId;
  unsigned int priority;
  nvmlMask255_t conflictingMask;
};
using nvmlWorkloadPowerProfileInfo_t = nvmlWorkloadPowerProfileInfo_v1_t;
struct nvmlWorkloadPowerProfileProfilesInfo_v1_t {
  unsigned int version;
  nvmlMask255_t perfProfilesMask;
  nvmlWorkloadPowerProfileInfo_t perfProfile[255];
};
using nvmlWorkloadPowerProfileProfilesInfo_t = nvmlWorkloadPowerProfileProfilesInfo_v1_t;
struct nvmlWorkloadPowerProfileCurrentProfiles_v1_t {
  unsigned int version;
  nvmlMask255_t perfProfilesMask;
  nvmlMask255_t requestedProfilesMask;
  nvmlMask255_t enforcedProfilesMask;
};
using nvmlWorkloadPowerProfileCurrentProfiles_t = nvmlWorkloadPowerProfileCurrentProfiles_v1_t;
struct nvmlWorkloadPowerProfileRequestedProfiles_v1_t {
  unsigned int version;
  nvmlMask255_t requestedProfilesMask;
};
using nvmlWorkloadPowerProfileRequestedProfiles_t = nvmlWorkloadPowerProfileRequestedProfiles_v1_t;
struct nvmlPowerSmoothingProfile_v1_t {
  unsigned int version;
  unsigned int profileId;
  unsigned int paramId;
  double value;
};
using nvmlPowerSmoothingProfile_t = nvmlPowerSmoothingProfile_v1_t;
struct nvmlPowerSmoothingState_v1_t {
  unsigned int version;
  nvmlEnableState_t state;
};
using nvmlPowerSmoothingState_t = nvmlPowerSmoothingState_v1_t;

inline constexpr int NVML_API_VERSION = 13;
inline constexpr int NVML_VALUE_NOT_AVAILABLE = -1;
inline constexpr int NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE = 32;
inline constexpr int NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE = 16;
inline constexpr unsigned nvmlPciInfoExt_v1 = 0x1000040;
inline constexpr unsigned nvmlMemory_v2 = 0x2000028;
inline constexpr unsigned nvmlProcessDetailList_v1 = 0x1000018;
inline constexpr unsigned nvmlC2cModeInfo_v1 = 0x1000004;
inline constexpr unsigned nvmlDeviceAddressingMode_v1 = 0x1000008;
inline constexpr unsigned nvmlRepairStatus_v1 = 0x100000c;
inline constexpr int NVML_NVLINK_MAX_LINKS = 18;
inline constexpr int NVML_TOPOLOGY_CPU = 40;
inline constexpr int NVML_MAX_PHYSICAL_BRIDGE = 128;
inline constexpr int NVML_MAX_THERMAL_SENSORS_PER_GPU = 3;
inline constexpr unsigned nvmlCoolerInfo_v1 = 0x1000010;
inline constexpr int NVML_DEVICE_UUID_ASCII_LEN = 41;
inline constexpr int NVML_DEVICE_UUID_BINARY_LEN = 16;
inline constexpr unsigned nvmlUUID_v1 = 0x1000034;
inline constexpr unsigned nvmlPdi_v1 = 0x1000010;
inline constexpr int nvmlFlagDefault = 0;
inline constexpr int nvmlFlagForce = 1;
inline constexpr unsigned nvmlDramEncryptionInfo_v1 = 0x1000008;
inline constexpr unsigned nvmlMarginTemperature_v1 = 0x1000008;
inline constexpr int MAX_CLK_DOMAINS = 32;
inline constexpr int NVML_SINGLE_BIT_ECC = 0;
inline constexpr int NVML_DOUBLE_BIT_ECC = 1;
inline constexpr int NVML_MAX_GPU_PERF_PSTATES = 16;
inline constexpr unsigned nvmlClockOffset_v1 = 0x1000018;
inline constexpr unsigned nvmlFanSpeedInfo_v1 = 0x100000c;
inline constexpr int NVML_PERF_MODES_BUFFER_SIZE = 2048;
inline constexpr unsigned nvmlDevicePerfModes_v1 = 0x1000804;
inline constexpr unsigned nvmlDeviceCurrentClockFreqs_v1 = 0x1000804;
inline constexpr int NVML_POWER_MIZER_MODE_ADAPTIVE = 0;
inline constexpr int NVML_POWER_MIZER_MODE_PREFER_MAXIMUM_PERFORMANCE = 1;
inline constexpr int NVML_POWER_MIZER_MODE_AUTO = 2;
inline constexpr int NVML_POWER_MIZER_MODE_PREFER_CONSISTENT_PERFORMANCE = 3;
inline constexpr unsigned nvmlProcessesUtilizationInfo_v1 = 0x1000018;
inline constexpr unsigned nvmlEccSramErrorStatus_v1 = 0x1000068;
inline constexpr unsigned nvmlPlatformInfo_v1 = 0x100002c;
inline constexpr unsigned nvmlPlatformInfo_v2 = 0x200002c;
inline constexpr unsigned nvmlEccSramUniqueUncorrectedErrorCounts_v1 = 0x1000010;
inline constexpr int NVML_GSP_FIRMWARE_VERSION_BUF_SIZE = 64;
inline constexpr int NVML_DEVICE_ARCH_KEPLER = 2;
inline constexpr int NVML_DEVICE_ARCH_MAXWELL = 3;
inline constexpr int NVML_DEVICE_ARCH_PASCAL = 4;
inline constexpr int NVML_DEVICE_ARCH_VOLTA = 5;
inline constexpr int NVML_DEVICE_ARCH_TURING = 6;
inline constexpr int NVML_DEVICE_ARCH_AMPERE = 7;
inline constexpr int NVML_DEVICE_ARCH_ADA = 8;
inline constexpr int NVML_DEVICE_ARCH_HOPPER = 9;
inline constexpr int NVML_DEVICE_ARCH_BLACKWELL = 10;
inline constexpr unsigned NVML_DEVICE_ARCH_UNKNOWN = 0xffffffff;
inline constexpr int NVML_BUS_TYPE_UNKNOWN = 0;
inline constexpr int NVML_BUS_TYPE_PCI = 1;
inline constexpr int NVML_BUS_TYPE_PCIE = 2;
inline constexpr int NVML_BUS_TYPE_FPCI = 3;
inline constexpr int NVML_BUS_TYPE_AGP = 4;
inline constexpr int NVML_FAN_POLICY_TEMPERATURE_CONTINOUS_SW = 0;
inline constexpr int NVML_FAN_POLICY_MANUAL = 1;
inline constexpr int NVML_POWER_SOURCE_AC = 0;
inline constexpr int NVML_POWER_SOURCE_BATTERY = 1;
inline constexpr int NVML_POWER_SOURCE_UNDERSIZED = 2;
inline constexpr int NVML_PCIE_LINK_MAX_SPEED_INVALID = 0;
inline constexpr int NVML_PCIE_LINK_MAX_SPEED_2500MBPS = 1;
inline constexpr int NVML_PCIE_LINK_MAX_SPEED_5000MBPS = 2;
inline constexpr int NVML_PCIE_LINK_MAX_SPEED_8000MBPS = 3;
inline constexpr int NVML_PCIE_LINK_MAX_SPEED_16000MBPS = 4;
inline constexpr int NVML_PCIE_LINK_MAX_SPEED_32000MBPS = 5;
inline constexpr int NVML_PCIE_LINK_MAX_SPEED_64000MBPS = 6;
inline constexpr int NVML_ADAPTIVE_CLOCKING_INFO_STATUS_DISABLED = 0;
inline constexpr int NVML_ADAPTIVE_CLOCKING_INFO_STATUS_ENABLED = 1;
inline constexpr int NVML_MAX_GPU_UTILIZATIONS = 8;
inline constexpr int NVML_PCIE_ATOMICS_CAP_FETCHADD32 = 1;
inline constexpr int NVML_PCIE_ATOMICS_CAP_FETCHADD64 = 2;
inline constexpr int NVML_PCIE_ATOMICS_CAP_SWAP32 = 4;
inline constexpr int NVML_PCIE_ATOMICS_CAP_SWAP64 = 8;
inline constexpr int NVML_PCIE_ATOMICS_CAP_CAS32 = 16;
inline constexpr int NVML_PCIE_ATOMICS_CAP_CAS64 = 32;
inline constexpr int NVML_PCIE_ATOMICS_CAP_CAS128 = 64;
inline constexpr int NVML_PCIE_ATOMICS_OPS_MAX = 7;
inline constexpr unsigned NVML_POWER_SCOPE_GPU = 0;
inline constexpr unsigned NVML_POWER_SCOPE_MODULE = 1;
inline constexpr unsigned NVML_POWER_SCOPE_MEMORY = 2;
inline constexpr unsigned nvmlPowerValue_v2 = 0x200000c;
inline constexpr int NVML_GRID_LICENSE_EXPIRY_NOT_AVAILABLE = 0;
inline constexpr int NVML_GRID_LICENSE_EXPIRY_INVALID = 1;
inline constexpr int NVML_GRID_LICENSE_EXPIRY_VALID = 2;
inline constexpr int NVML_GRID_LICENSE_EXPIRY_NOT_APPLICABLE = 3;
inline constexpr int NVML_GRID_LICENSE_EXPIRY_PERMANENT = 4;
inline constexpr int NVML_GRID_LICENSE_BUFFER_SIZE = 128;
inline constexpr int NVML_VGPU_NAME_BUFFER_SIZE = 64;
inline constexpr int NVML_GRID_LICENSE_FEATURE_MAX_COUNT = 3;
inline constexpr unsigned INVALID_GPU_INSTANCE_PROFILE_ID = 0xffffffff;
inline constexpr unsigned INVALID_GPU_INSTANCE_ID = 0xffffffff;
inline constexpr int NVML_INVALID_VGPU_PLACEMENT_ID = 65535;
inline constexpr int NVML_VGPU_VIRTUALIZATION_CAP_MIGRATION_NO = 0;
inline constexpr int NVML_VGPU_VIRTUALIZATION_CAP_MIGRATION_YES = 1;
inline constexpr int NVML_VGPU_PGPU_VIRTUALIZATION_CAP_MIGRATION_NO = 0;
inline constexpr int NVML_VGPU_PGPU_VIRTUALIZATION_CAP_MIGRATION_YES = 1;
inline constexpr int NVML_VGPU_PGPU_HETEROGENEOUS_MODE = 0;
inline constexpr int NVML_VGPU_PGPU_HOMOGENEOUS_MODE = 1;
inline constexpr unsigned nvmlVgpuHeterogeneousMode_v1 = 0x1000008;
inline constexpr unsigned nvmlVgpuPlacementId_v1 = 0x1000008;
inline constexpr unsigned nvmlVgpuPlacementList_v1 = 0x1000018;
inline constexpr unsigned nvmlVgpuPlacementList_v2 = 0x2000020;
inline constexpr unsigned nvmlVgpuTypeBar1Info_v1 = 0x1000010;
inline constexpr unsigned nvmlVgpuInstancesUtilizationInfo_v1 = 0x1000020;
inline constexpr unsigned nvmlVgpuProcessesUtilizationInfo_v1 = 0x1000018;
inline constexpr unsigned nvmlVgpuRuntimeState_v1 = 0x1000010;
inline constexpr int NVML_VGPU_SCHEDULER_POLICY_UNKNOWN = 0;
inline constexpr int NVML_VGPU_SCHEDULER_POLICY_BEST_EFFORT = 1;
inline constexpr int NVML_VGPU_SCHEDULER_POLICY_EQUAL_SHARE = 2;
inline constexpr int NVML_VGPU_SCHEDULER_POLICY_FIXED_SHARE = 3;
inline constexpr int NVML_SUPPORTED_VGPU_SCHEDULER_POLICY_COUNT = 3;
inline constexpr int NVML_SCHEDULER_SW_MAX_LOG_ENTRIES = 200;
inline constexpr int NVML_VGPU_SCHEDULER_ARR_DEFAULT = 0;
inline constexpr int NVML_VGPU_SCHEDULER_ARR_DISABLE = 1;
inline constexpr int NVML_VGPU_SCHEDULER_ARR_ENABLE = 2;
inline constexpr int NVML_VGPU_SCHEDULER_ENGINE_TYPE_GRAPHICS = 1;
inline constexpr int NVML_GRID_LICENSE_STATE_UNKNOWN = 0;
inline constexpr int NVML_GRID_LICENSE_STATE_UNINITIALIZED = 1;
inline constexpr int NVML_GRID_LICENSE_STATE_UNLICENSED_UNRESTRICTED = 2;
inline constexpr int NVML_GRID_LICENSE_STATE_UNLICENSED_RESTRICTED = 3;
inline constexpr int NVML_GRID_LICENSE_STATE_UNLICENSED = 4;
inline constexpr int NVML_GRID_LICENSE_STATE_LICENSED = 5;
inline constexpr unsigned nvmlVgpuTypeIdInfo_v1 = 0x1000010;
inline constexpr unsigned nvmlVgpuTypeMaxInstance_v1 = 0x100000c;
inline constexpr unsigned nvmlActiveVgpuInstanceInfo_v1 = 0x1000010;
inline constexpr unsigned nvmlVgpuSchedulerState_v1 = 0x1000018;
inline constexpr unsigned nvmlVgpuSchedulerStateInfo_v1 = 0x1000018;
inline constexpr unsigned nvmlVgpuSchedulerLogInfo_v1 = 0x10025a0;
inline constexpr unsigned nvmlVgpuCreatablePlacementInfo_v1 = 0x1000020;
inline constexpr int NVML_FI_DEV_ECC_CURRENT = 1;
inline constexpr int NVML_FI_DEV_ECC_PENDING = 2;
inline constexpr int NVML_FI_DEV_ECC_SBE_VOL_TOTAL = 3;
inline constexpr int NVML_FI_DEV_ECC_DBE_VOL_TOTAL = 4;
inline constexpr int NVML_FI_DEV_ECC_SBE_AGG_TOTAL = 5;
inline constexpr int NVML_FI_DEV_ECC_DBE_AGG_TOTAL = 6;
inline constexpr int NVML_FI_DEV_ECC_SBE_VOL_L1 = 7;
inline constexpr int NVML_FI_DEV_ECC_DBE_VOL_L1 = 8;
inline constexpr int NVML_FI_DEV_ECC_SBE_VOL_L2 = 9;
inline constexpr int NVML_FI_DEV_ECC_DBE_VOL_L2 = 10;
inline constexpr int NVML_FI_DEV_ECC_SBE_VOL_DEV = 11;
inline constexpr int NVML_FI_DEV_ECC_DBE_VOL_DEV = 12;
inline constexpr int NVML_FI_DEV_ECC_SBE_VOL_REG = 13;
inline constexpr int NVML_FI_DEV_ECC_DBE_VOL_REG = 14;
inline constexpr int NVML_FI_DEV_ECC_SBE_VOL_TEX = 15;
inline constexpr int NVML_FI_DEV_ECC_DBE_VOL_TEX = 16;
inline constexpr int NVML_FI_DEV_ECC_DBE_VOL_CBU = 17;
inline constexpr int NVML_FI_DEV_ECC_SBE_AGG_L1 = 18;
inline constexpr int NVML_FI_DEV_ECC_DBE_AGG_L1 = 19;
inline constexpr int NVML_FI_DEV_ECC_SBE_AGG_L2 = 20;
inline constexpr int NVML_FI_DEV_ECC_DBE_AGG_L2 = 21;
inline constexpr int NVML_FI_DEV_ECC_SBE_AGG_DEV = 22;
inline constexpr int NVML_FI_DEV_ECC_DBE_AGG_DEV = 23;
inline constexpr int NVML_FI_DEV_ECC_SBE_AGG_REG = 24;
inline constexpr int NVML_FI_DEV_ECC_DBE_AGG_REG = 25;
inline constexpr int NVML_FI_DEV_ECC_SBE_AGG_TEX = 26;
inline constexpr int NVML_FI_DEV_ECC_DBE_AGG_TEX = 27;
inline constexpr int NVML_FI_DEV_ECC_DBE_AGG_CBU = 28;
inline constexpr int NVML_FI_DEV_RETIRED_SBE = 29;
inline constexpr int NVML_FI_DEV_RETIRED_DBE = 30;
inline constexpr int NVML_FI_DEV_RETIRED_PENDING = 31;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0 = 32;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L1 = 33;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L2 = 34;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L3 = 35;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L4 = 36;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L5 = 37;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL = 38;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L0 = 39;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L1 = 40;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L2 = 41;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L3 = 42;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L4 = 43;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L5 = 44;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL = 45;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L0 = 46;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L1 = 47;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L2 = 48;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L3 = 49;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L4 = 50;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L5 = 51;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL = 52;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L0 = 53;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L1 = 54;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L2 = 55;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L3 = 56;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L4 = 57;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L5 = 58;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL = 59;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L0 = 60;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L1 = 61;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L2 = 62;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L3 = 63;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L4 = 64;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L5 = 65;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_TOTAL = 66;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L0 = 67;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L1 = 68;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L2 = 69;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L3 = 70;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L4 = 71;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L5 = 72;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_TOTAL = 73;
inline constexpr int NVML_FI_DEV_PERF_POLICY_POWER = 74;
inline constexpr int NVML_FI_DEV_PERF_POLICY_THERMAL = 75;
inline constexpr int NVML_FI_DEV_PERF_POLICY_SYNC_BOOST = 76;
inline constexpr int NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT = 77;
inline constexpr int NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION = 78;
inline constexpr int NVML_FI_DEV_PERF_POLICY_RELIABILITY = 79;
inline constexpr int NVML_FI_DEV_PERF_POLICY_TOTAL_APP_CLOCKS = 80;
inline constexpr int NVML_FI_DEV_PERF_POLICY_TOTAL_BASE_CLOCKS = 81;
inline constexpr int NVML_FI_DEV_MEMORY_TEMP = 82;
inline constexpr int NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION = 83;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L0 = 84;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L1 = 85;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L2 = 86;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L3 = 87;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L4 = 88;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L5 = 89;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON = 90;
inline constexpr int NVML_FI_DEV_NVLINK_LINK_COUNT = 91;
inline constexpr int NVML_FI_DEV_RETIRED_PENDING_SBE = 92;
inline constexpr int NVML_FI_DEV_RETIRED_PENDING_DBE = 93;
inline constexpr int NVML_FI_DEV_PCIE_REPLAY_COUNTER = 94;
inline constexpr int NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER = 95;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L6 = 96;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L7 = 97;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L8 = 98;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L9 = 99;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L10 = 100;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L11 = 101;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L6 = 102;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L7 = 103;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L8 = 104;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L9 = 105;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L10 = 106;
inline constexpr int NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_L11 = 107;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L6 = 108;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L7 = 109;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L8 = 110;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L9 = 111;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L10 = 112;
inline constexpr int NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L11 = 113;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L6 = 114;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L7 = 115;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L8 = 116;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L9 = 117;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L10 = 118;
inline constexpr int NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L11 = 119;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L6 = 120;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L7 = 121;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L8 = 122;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L9 = 123;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L10 = 124;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C0_L11 = 125;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L6 = 126;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L7 = 127;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L8 = 128;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L9 = 129;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L10 = 130;
inline constexpr int NVML_FI_DEV_NVLINK_BANDWIDTH_C1_L11 = 131;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L6 = 132;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L7 = 133;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L8 = 134;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L9 = 135;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L10 = 136;
inline constexpr int NVML_FI_DEV_NVLINK_SPEED_MBPS_L11 = 137;
inline constexpr int NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX = 138;
inline constexpr int NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX = 139;
inline constexpr int NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_TX = 140;
inline constexpr int NVML_FI_DEV_NVLINK_THROUGHPUT_RAW_RX = 141;
inline constexpr int NVML_FI_DEV_REMAPPED_COR = 142;
inline constexpr int NVML_FI_DEV_REMAPPED_UNC = 143;
inline constexpr int NVML_FI_DEV_REMAPPED_PENDING = 144;
inline constexpr int NVML_FI_DEV_REMAPPED_FAILURE = 145;
inline constexpr int NVML_FI_DEV_NVLINK_REMOTE_NVLINK_ID = 146;
inline constexpr int NVML_FI_DEV_NVSWITCH_CONNECTED_LINK_COUNT = 147;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L0 = 148;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L1 = 149;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L2 = 150;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L3 = 151;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L4 = 152;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L5 = 153;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L6 = 154;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L7 = 155;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L8 = 156;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L9 = 157;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L10 = 158;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_L11 = 159;
inline constexpr int NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL = 160;
inline constexpr int NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY = 161;
inline constexpr int NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY = 162;
inline constexpr int NVML_FI_DEV_NVLINK_ERROR_DL_CRC = 163;
inline constexpr int NVML_FI_DEV_NVLINK_GET_SPEED = 164;
inline constexpr int NVML_FI_DEV_NVLINK_GET_STATE = 165;
inline constexpr int NVML_FI_DEV_NVLINK_GET_VERSION = 166;
inline constexpr int NVML_FI_DEV_NVLINK_GET_POWER_STATE = 167;
inline constexpr int NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD = 168;
inline constexpr int NVML_FI_DEV_PCIE_L0_TO_RECOVERY_COUNTER = 169;
inline constexpr int NVML_FI_DEV_C2C_LINK_COUNT = 170;
inline constexpr int NVML_FI_DEV_C2C_LINK_GET_STATUS = 171;
inline constexpr int NVML_FI_DEV_C2C_LINK_GET_MAX_BW = 172;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_CORRECTABLE_ERRORS = 173;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_NAKS_RECEIVED = 174;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_RECEIVER_ERROR = 175;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_BAD_TLP = 176;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_NAKS_SENT = 177;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_BAD_DLLP = 178;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_NON_FATAL_ERROR = 179;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_FATAL_ERROR = 180;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_UNSUPPORTED_REQ = 181;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_LCRC_ERROR = 182;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_LANE_ERROR = 183;
inline constexpr int NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED = 184;
inline constexpr int NVML_FI_DEV_POWER_AVERAGE = 185;
inline constexpr int NVML_FI_DEV_POWER_INSTANT = 186;
inline constexpr int NVML_FI_DEV_POWER_MIN_LIMIT = 187;
inline constexpr int NVML_FI_DEV_POWER_MAX_LIMIT = 188;
inline constexpr int NVML_FI_DEV_POWER_DEFAULT_LIMIT = 189;
inline constexpr int NVML_FI_DEV_POWER_CURRENT_LIMIT = 190;
inline constexpr int NVML_FI_DEV_ENERGY = 191;
inline constexpr int NVML_FI_DEV_POWER_REQUESTED_LIMIT = 192;
inline constexpr int NVML_FI_DEV_TEMPERATURE_SHUTDOWN_TLIMIT = 193;
inline constexpr int NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT = 194;
inline constexpr int NVML_FI_DEV_TEMPERATURE_MEM_MAX_TLIMIT = 195;
inline constexpr int NVML_FI_DEV_TEMPERATURE_GPU_MAX_TLIMIT = 196;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_TX_BYTES = 197;
inline constexpr int NVML_FI_DEV_PCIE_COUNT_RX_BYTES = 198;
inline constexpr int NVML_FI_DEV_IS_MIG_MODE_INDEPENDENT_MIG_QUERY_CAPABLE = 199;
inline constexpr int NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD_MAX = 200;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_XMIT_PACKETS = 201;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES = 202;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_RCV_PACKETS = 203;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES = 204;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_VL15_DROPPED = 205;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_MALFORMED_PACKET_ERRORS = 206;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_BUFFER_OVERRUN_ERRORS = 207;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS = 208;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_RCV_REMOTE_ERRORS = 209;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_RCV_GENERAL_ERRORS = 210;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_LOCAL_LINK_INTEGRITY_ERRORS = 211;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS = 212;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_SUCCESSFUL_EVENTS = 213;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS = 214;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS = 215;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_RAW_BER_LANE0 = 216;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_RAW_BER_LANE1 = 217;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_RAW_BER = 218;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_ERRORS = 219;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_EFFECTIVE_BER = 220;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_SYMBOL_ERRORS = 221;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_SYMBOL_BER = 222;
inline constexpr int NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD_MIN = 223;
inline constexpr int NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD_UNITS = 224;
inline constexpr int NVML_FI_DEV_NVLINK_GET_POWER_THRESHOLD_SUPPORTED = 225;
inline constexpr int NVML_FI_DEV_RESET_STATUS = 226;
inline constexpr int NVML_FI_DEV_DRAIN_AND_RESET_STATUS = 227;
inline constexpr int NVML_FI_DEV_PCIE_OUTBOUND_ATOMICS_MASK = 228;
inline constexpr int NVML_FI_DEV_PCIE_INBOUND_ATOMICS_MASK = 229;
inline constexpr int NVML_FI_DEV_GET_GPU_RECOVERY_ACTION = 230;
inline constexpr int NVML_FI_DEV_C2C_LINK_ERROR_INTR = 231;
inline constexpr int NVML_FI_DEV_C2C_LINK_ERROR_REPLAY = 232;
inline constexpr int NVML_FI_DEV_C2C_LINK_ERROR_REPLAY_B2B = 233;
inline constexpr int NVML_FI_DEV_C2C_LINK_POWER_STATE = 234;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_0 = 235;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_1 = 236;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_2 = 237;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_3 = 238;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_4 = 239;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_5 = 240;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_6 = 241;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_7 = 242;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_8 = 243;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_9 = 244;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_10 = 245;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_11 = 246;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_12 = 247;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_13 = 248;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_14 = 249;
inline constexpr int NVML_FI_DEV_NVLINK_COUNT_FEC_HISTORY_15 = 250;
inline constexpr int NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP = 74;
inline constexpr int NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST = 76;
inline constexpr int NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN = 251;
inline constexpr int NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN = 252;
inline constexpr int NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN = 253;
inline constexpr int NVML_FI_DEV_POWER_SYNC_BALANCING_FREQ = 254;
inline constexpr int NVML_FI_DEV_POWER_SYNC_BALANCING_AF = 255;
inline constexpr int NVML_FI_PWR_SMOOTHING_ENABLED = 256;
inline constexpr int NVML_FI_PWR_SMOOTHING_PRIV_LVL = 257;
inline constexpr int NVML_FI_PWR_SMOOTHING_IMM_RAMP_DOWN_ENABLED = 258;
inline constexpr int NVML_FI_PWR_SMOOTHING_APPLIED_TMP_CEIL = 259;
inline constexpr int NVML_FI_PWR_SMOOTHING_APPLIED_TMP_FLOOR = 260;
inline constexpr int NVML_FI_PWR_SMOOTHING_MAX_PERCENT_TMP_FLOOR_SETTING = 261;
inline constexpr int NVML_FI_PWR_SMOOTHING_MIN_PERCENT_TMP_FLOOR_SETTING = 262;
inline constexpr int NVML_FI_PWR_SMOOTHING_HW_CIRCUITRY_PERCENT_LIFETIME_REMAINING = 263;
inline constexpr int NVML_FI_PWR_SMOOTHING_MAX_NUM_PRESET_PROFILES = 264;
inline constexpr int NVML_FI_PWR_SMOOTHING_PROFILE_PERCENT_TMP_FLOOR = 265;
inline constexpr int NVML_FI_PWR_SMOOTHING_PROFILE_RAMP_UP_RATE = 266;
inline constexpr int NVML_FI_PWR_SMOOTHING_PROFILE_RAMP_DOWN_RATE = 267;
inline constexpr int NVML_FI_PWR_SMOOTHING_PROFILE_RAMP_DOWN_HYST_VAL = 268;
inline constexpr int NVML_FI_PWR_SMOOTHING_ACTIVE_PRESET_PROFILE = 269;
inline constexpr int NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_PERCENT_TMP_FLOOR = 270;
inline constexpr int NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_RAMP_UP_RATE = 271;
inline constexpr int NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_RAMP_DOWN_RATE = 272;
inline constexpr int NVML_FI_PWR_SMOOTHING_ADMIN_OVERRIDE_RAMP_DOWN_HYST_VAL = 273;
inline constexpr int NVML_FI_MAX = 274;
inline constexpr int NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_100US = 0;
inline constexpr int NVML_NVLINK_LOW_POWER_THRESHOLD_UNIT_50US = 1;
inline constexpr int NVML_NVLINK_POWER_STATE_HIGH_SPEED = 0;
inline constexpr int NVML_NVLINK_POWER_STATE_LOW = 1;
inline constexpr int NVML_NVLINK_LOW_POWER_THRESHOLD_MIN = 1;
inline constexpr int NVML_NVLINK_LOW_POWER_THRESHOLD_MAX = 8191;
inline constexpr unsigned NVML_NVLINK_LOW_POWER_THRESHOLD_RESET = 0xffffffff;
inline constexpr unsigned NVML_NVLINK_LOW_POWER_THRESHOLD_DEFAULT = 0xffffffff;
inline constexpr int NVML_C2C_POWER_STATE_FULL_POWER = 0;
inline constexpr int NVML_C2C_POWER_STATE_LOW_POWER = 1;
inline constexpr std::int64_t nvmlEventTypeNone = 0;
inline constexpr std::int64_t nvmlEventTypeSingleBitEccError = 1;
inline constexpr std::int64_t nvmlEventTypeDoubleBitEccError = 2;
inline constexpr std::int64_t nvmlEventTypePState = 4;
inline constexpr std::int64_t nvmlEventTypeXidCriticalError = 8;
inline constexpr std::int64_t nvmlEventTypeClock = 16;
inline constexpr std::int64_t nvmlEventTypePowerSourceChange = 128;
inline constexpr std::int64_t nvmlEventMigConfigChange = 256;
inline constexpr std::int64_t nvmlEventTypeSingleBitEccErrorStorm = 512;
inline constexpr std::int64_t nvmlEventTypeDramRetirementEvent = 1024;
inline constexpr std::int64_t nvmlEventTypeDramRetirementFailure = 2048;
inline constexpr std::int64_t nvmlEventTypeNonFatalPoisonError = 4096;
inline constexpr std::int64_t nvmlEventTypeFatalPoisonError = 8192;
inline constexpr std::int64_t nvmlEventTypeGpuUnavailableError = 16384;
inline constexpr std::int64_t nvmlEventTypeGpuRecoveryAction = 32768;
inline constexpr std::int64_t nvmlEventTypeAll = 65439;
inline constexpr std::int64_t nvmlSystemEventTypeGpuDriverUnbind = 1;
inline constexpr std::int64_t nvmlSystemEventTypeGpuDriverBind = 2;
inline constexpr int nvmlSystemEventTypeCount = 2;
inline constexpr unsigned nvmlSystemEventSetCreateRequest_v1 = 0x1000010;
inline constexpr unsigned nvmlSystemEventSetFreeRequest_v1 = 0x1000010;
inline constexpr unsigned nvmlSystemRegisterEventRequest_v1 = 0x1000018;
inline constexpr unsigned nvmlSystemEventSetWaitRequest_v1 = 0x1000020;
inline constexpr std::int64_t nvmlClocksEventReasonGpuIdle = 1;
inline constexpr std::int64_t nvmlClocksEventReasonApplicationsClocksSetting = 2;
inline constexpr std::int64_t nvmlClocksThrottleReasonUserDefinedClocks = 2;
inline constexpr std::int64_t nvmlClocksEventReasonSwPowerCap = 4;
inline constexpr std::int64_t nvmlClocksThrottleReasonHwSlowdown = 8;
inline constexpr std::int64_t nvmlClocksEventReasonSyncBoost = 16;
inline constexpr std::int64_t nvmlClocksEventReasonSwThermalSlowdown = 32;
inline constexpr std::int64_t nvmlClocksThrottleReasonHwThermalSlowdown = 64;
inline constexpr std::int64_t nvmlClocksThrottleReasonHwPowerBrakeSlowdown = 128;
inline constexpr std::int64_t nvmlClocksEventReasonDisplayClockSetting = 256;
inline constexpr std::int64_t nvmlClocksEventReasonNone = 0;
inline constexpr std::int64_t nvmlClocksEventReasonAll = 511;
inline constexpr std::int64_t nvmlClocksThrottleReasonGpuIdle = 1;
inline constexpr std::int64_t nvmlClocksThrottleReasonApplicationsClocksSetting = 2;
inline constexpr std::int64_t nvmlClocksThrottleReasonSyncBoost = 16;
inline constexpr std::int64_t nvmlClocksThrottleReasonSwPowerCap = 4;
inline constexpr std::int64_t nvmlClocksThrottleReasonSwThermalSlowdown = 32;
inline constexpr std::int64_t nvmlClocksThrottleReasonDisplayClockSetting = 256;
inline constexpr std::int64_t nvmlClocksThrottleReasonNone = 0;
inline constexpr std::int64_t nvmlClocksThrottleReasonAll = 511;
inline constexpr int NVML_NVFBC_SESSION_FLAG_DIFFMAP_ENABLED = 1;
inline constexpr int NVML_NVFBC_SESSION_FLAG_CLASSIFICATIONMAP_ENABLED = 2;
inline constexpr int NVML_NVFBC_SESSION_FLAG_CAPTURE_WITH_WAIT_NO_WAIT = 4;
inline constexpr int NVML_NVFBC_SESSION_FLAG_CAPTURE_WITH_WAIT_INFINITE = 8;
inline constexpr int NVML_NVFBC_SESSION_FLAG_CAPTURE_WITH_WAIT_TIMEOUT = 16;
inline constexpr int NVML_CC_SYSTEM_CPU_CAPS_NONE = 0;
inline constexpr int NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV = 1;
inline constexpr int NVML_CC_SYSTEM_CPU_CAPS_INTEL_TDX = 2;
inline constexpr int NVML_CC_SYSTEM_CPU_CAPS_AMD_SEV_SNP = 3;
inline constexpr int NVML_CC_SYSTEM_CPU_CAPS_AMD_SNP_VTOM = 4;
inline constexpr int NVML_CC_SYSTEM_GPUS_CC_NOT_CAPABLE = 0;
inline constexpr int NVML_CC_SYSTEM_GPUS_CC_CAPABLE = 1;
inline constexpr int NVML_CC_SYSTEM_DEVTOOLS_MODE_OFF = 0;
inline constexpr int NVML_CC_SYSTEM_DEVTOOLS_MODE_ON = 1;
inline constexpr int NVML_CC_SYSTEM_ENVIRONMENT_UNAVAILABLE = 0;
inline constexpr int NVML_CC_SYSTEM_ENVIRONMENT_SIM = 1;
inline constexpr int NVML_CC_SYSTEM_ENVIRONMENT_PROD = 2;
inline constexpr int NVML_CC_SYSTEM_FEATURE_DISABLED = 0;
inline constexpr int NVML_CC_SYSTEM_FEATURE_ENABLED = 1;
inline constexpr int NVML_CC_SYSTEM_MULTIGPU_NONE = 0;
inline constexpr int NVML_CC_SYSTEM_MULTIGPU_PROTECTED_PCIE = 1;
inline constexpr int NVML_CC_SYSTEM_MULTIGPU_NVLE = 2;
inline constexpr unsigned nvmlSystemConfComputeSettings_v1 = 0x1000014;
inline constexpr int NVML_CC_ACCEPTING_CLIENT_REQUESTS_FALSE = 0;
inline constexpr int NVML_CC_ACCEPTING_CLIENT_REQUESTS_TRUE = 1;
inline constexpr int NVML_GPU_CERT_CHAIN_SIZE = 4096;
inline constexpr int NVML_GPU_ATTESTATION_CERT_CHAIN_SIZE = 5120;
inline constexpr int NVML_CC_GPU_CEC_NONCE_SIZE = 32;
inline constexpr int NVML_CC_GPU_ATTESTATION_REPORT_SIZE = 8192;
inline constexpr int NVML_CC_GPU_CEC_ATTESTATION_REPORT_SIZE = 4096;
inline constexpr int NVML_CC_CEC_ATTESTATION_REPORT_NOT_PRESENT = 0;
inline constexpr int NVML_CC_CEC_ATTESTATION_REPORT_PRESENT = 1;
inline constexpr int NVML_CC_KEY_ROTATION_THRESHOLD_ATTACKER_ADVANTAGE_MIN = 50;
inline constexpr int NVML_CC_KEY_ROTATION_THRESHOLD_ATTACKER_ADVANTAGE_MAX = 65;
inline constexpr unsigned nvmlConfComputeSetKeyRotationThresholdInfo_v1 = 0x1000010;
inline constexpr unsigned nvmlConfComputeGetKeyRotationThresholdInfo_v1 = 0x1000010;
inline constexpr int NVML_GPU_FABRIC_UUID_LEN = 16;
inline constexpr int NVML_GPU_FABRIC_STATE_NOT_SUPPORTED = 0;
inline constexpr int NVML_GPU_FABRIC_STATE_NOT_STARTED = 1;
inline constexpr int NVML_GPU_FABRIC_STATE_IN_PROGRESS = 2;
inline constexpr int NVML_GPU_FABRIC_STATE_COMPLETED = 3;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_NOT_SUPPORTED = 0;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_TRUE = 1;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_DEGRADED_BW_FALSE = 2;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW = 0;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_DEGRADED_BW = 3;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_NOT_SUPPORTED = 0;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_TRUE = 1;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_RECOVERY_FALSE = 2;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_RECOVERY = 2;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_RECOVERY = 3;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_NOT_SUPPORTED = 0;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_TRUE = 1;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_ROUTE_UNHEALTHY_FALSE = 2;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_UNHEALTHY = 4;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ROUTE_UNHEALTHY = 3;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_NOT_SUPPORTED = 0;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_TRUE = 1;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_ACCESS_TIMEOUT_RECOVERY_FALSE = 2;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY = 6;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_ACCESS_TIMEOUT_RECOVERY = 3;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NOT_SUPPORTED = 0;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NONE = 1;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_SYSGUID = 2;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INCORRECT_CHASSIS_SN = 3;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_NO_PARTITION = 4;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_INCORRECT_CONFIGURATION_INSUFFICIENT_NVLINKS = 5;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_INCORRECT_CONFIGURATION = 8;
inline constexpr int NVML_GPU_FABRIC_HEALTH_MASK_WIDTH_INCORRECT_CONFIGURATION = 15;
inline constexpr int NVML_GPU_FABRIC_HEALTH_SUMMARY_NOT_SUPPORTED = 0;
inline constexpr int NVML_GPU_FABRIC_HEALTH_SUMMARY_HEALTHY = 1;
inline constexpr int NVML_GPU_FABRIC_HEALTH_SUMMARY_UNHEALTHY = 2;
inline constexpr int NVML_GPU_FABRIC_HEALTH_SUMMARY_LIMITED_CAPACITY = 3;
inline constexpr unsigned nvmlGpuFabricInfo_v2 = 0x2000024;
inline constexpr unsigned nvmlGpuFabricInfo_v3 = 0x3000028;
inline constexpr int NVML_INIT_FLAG_NO_GPUS = 1;
inline constexpr int NVML_INIT_FLAG_NO_ATTACH = 2;
inline constexpr int NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE = 16;
inline constexpr int NVML_DEVICE_UUID_BUFFER_SIZE = 80;
inline constexpr int NVML_DEVICE_UUID_V2_BUFFER_SIZE = 96;
inline constexpr int NVML_DEVICE_PART_NUMBER_BUFFER_SIZE = 80;
inline constexpr int NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE = 80;
inline constexpr int NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE = 80;
inline constexpr int NVML_DEVICE_NAME_BUFFER_SIZE = 64;
inline constexpr int NVML_DEVICE_NAME_V2_BUFFER_SIZE = 96;
inline constexpr int NVML_DEVICE_SERIAL_BUFFER_SIZE = 30;
inline constexpr int NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE = 32;
inline constexpr unsigned nvmlSystemDriverBranchInfo_v1 = 0x1000054;
inline constexpr int NVML_AFFINITY_SCOPE_NODE = 0;
inline constexpr int NVML_AFFINITY_SCOPE_SOCKET = 1;
inline constexpr unsigned nvmlTemperature_v1 = 0x100000c;
inline constexpr int NVML_NVLINK_BER_MANTISSA_SHIFT = 8;
inline constexpr int NVML_NVLINK_BER_MANTISSA_WIDTH = 15;
inline constexpr int NVML_NVLINK_BER_EXP_SHIFT = 0;
inline constexpr int NVML_NVLINK_BER_EXP_WIDTH = 255;
inline constexpr int NVML_NVLINK_STATE_INACTIVE = 0;
inline constexpr int NVML_NVLINK_STATE_ACTIVE = 1;
inline constexpr int NVML_NVLINK_STATE_SLEEP = 2;
inline constexpr int NVML_NVLINK_TOTAL_SUPPORTED_BW_MODES = 23;
inline constexpr unsigned nvmlNvlinkSupportedBwModes_v1 = 0x100001c;
inline constexpr unsigned nvmlNvlinkGetBwMode_v1 = 0x100000c;
inline constexpr unsigned nvmlNvlinkSetBwMode_v1 = 0x100000c;
inline constexpr unsigned nvmlNvLinkInfo_v1 = 0x1000008;
inline constexpr int NVML_NVLINK_FIRMWARE_UCODE_TYPE_MSE = 1;
inline constexpr int NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR = 2;
inline constexpr int NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_UPHY = 3;
inline constexpr int NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_CLN = 4;
inline constexpr int NVML_NVLINK_FIRMWARE_UCODE_TYPE_NETIR_DLN = 5;
inline constexpr int NVML_NVLINK_FIRMWARE_VERSION_LENGTH = 100;
inline constexpr unsigned nvmlNvLinkInfo_v2 = 0x200064c;
inline constexpr int NVML_PRM_DATA_MAX_SIZE = 496;
inline constexpr int NVML_DEVICE_MIG_DISABLE = 0;
inline constexpr int NVML_DEVICE_MIG_ENABLE = 1;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_1_SLICE = 0;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_2_SLICE = 1;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_3_SLICE = 2;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_4_SLICE = 3;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_7_SLICE = 4;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_8_SLICE = 5;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_6_SLICE = 6;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1 = 7;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1 = 8;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2 = 9;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX = 10;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX = 11;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX = 12;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME = 13;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME = 14;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME = 15;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME = 16;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_COUNT = 17;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_CAPS_P2P = 1;
inline constexpr int NVML_GPU_INTSTANCE_PROFILE_CAPS_P2P = 1;
inline constexpr int NVML_GPU_INSTANCE_PROFILE_CAPS_GFX = 2;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_CAPS_GFX = 1;
inline constexpr unsigned nvmlGpuInstanceProfileInfo_v2 = 0x2000098;
inline constexpr unsigned nvmlGpuInstanceProfileInfo_v3 = 0x3000098;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE = 0;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE = 1;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE = 2;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE = 3;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE = 4;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE = 5;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE = 6;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1 = 7;
inline constexpr int NVML_COMPUTE_INSTANCE_PROFILE_COUNT = 8;
inline constexpr int NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED = 0;
inline constexpr int NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT = 1;
inline constexpr unsigned nvmlComputeInstanceProfileInfo_v2 = 0x2000088;
inline constexpr unsigned nvmlComputeInstanceProfileInfo_v3 = 0x300008c;
inline constexpr int NVML_GPM_METRICS_GET_VERSION = 1;
inline constexpr int NVML_GPM_SUPPORT_VERSION = 1;
inline constexpr int NVML_DEV_CAP_EGM = 1;
inline constexpr unsigned nvmlDeviceCapabilities_v1 = 0x1000008;
inline constexpr int NVML_255_MASK_BITS_PER_ELEM = 32;
inline constexpr int NVML_255_MASK_NUM_ELEMS = 8;
inline constexpr int NVML_WORKLOAD_POWER_MAX_PROFILES = 255;
inline constexpr unsigned nvmlWorkloadPowerProfileInfo_v1 = 0x100002c;
inline constexpr unsigned nvmlWorkloadPowerProfileProfilesInfo_v1 = 0x1002bf8;
inline constexpr unsigned nvmlWorkloadPowerProfileCurrentProfiles_v1 = 0x1000064;
inline constexpr unsigned nvmlWorkloadPowerProfileRequestedProfiles_v1 = 0x1000024;
inline constexpr int NVML_POWER_SMOOTHING_MAX_NUM_PROFILES = 5;
inline constexpr int NVML_POWER_SMOOTHING_NUM_PROFILE_PARAMS = 4;
inline constexpr unsigned NVML_POWER_SMOOTHING_ADMIN_OVERRIDE_NOT_SET = 0xffffffff;
inline constexpr int NVML_POWER_SMOOTHING_PROFILE_PARAM_PERCENT_TMP_FLOOR = 0;
inline constexpr int NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_UP_RATE = 1;
inline constexpr int NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_DOWN_RATE = 2;
inline constexpr int NVML_POWER_SMOOTHING_PROFILE_PARAM_RAMP_DOWN_HYSTERESIS = 3;
inline constexpr unsigned nvmlPowerSmoothingProfile_v1 = 0x1000018;
inline constexpr unsigned nvmlPowerSmoothingState_v1 = 0x1000008;

#pragma GCC visibility push(default)
extern "C" {

nvmlReturn_t nvmlInit_v2();
nvmlReturn_t nvmlInitWithFlags(unsigned int flags);
nvmlReturn_t nvmlShutdown();
const char* nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int length);
nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned int length);
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int* cudaDriverVersion);
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* cudaDriverVersion);
nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char* name, unsigned int length);
nvmlReturn_t nvmlSystemGetHicVersion(unsigned int* hwbcCount, nvmlHwbcEntry_t* hwbcEntries);
nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned int cpuNumber, unsigned int* count, nvmlDevice_t* deviceArray);
nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t* branchInfo, unsigned int length);
nvmlReturn_t nvmlUnitGetCount(unsigned int* unitCount);
nvmlReturn_t nvmlUnitGetHandleByIndex(unsigned int index, nvmlUnit_t* unit);
nvmlReturn_t nvmlUnitGetUnitInfo(nvmlUnit_t unit, nvmlUnitInfo_t* info);
nvmlReturn_t nvmlUnitGetLedState(nvmlUnit_t unit, nvmlLedState_t* state);
nvmlReturn_t nvmlUnitGetPsuInfo(nvmlUnit_t unit, nvmlPSUInfo_t* psu);
nvmlReturn_t nvmlUnitGetTemperature(nvmlUnit_t unit, unsigned int type, unsigned int* temp);
nvmlReturn_t nvmlUnitGetFanSpeedInfo(nvmlUnit_t unit, nvmlUnitFanSpeeds_t* fanSpeeds);
nvmlReturn_t nvmlUnitGetDevices(nvmlUnit_t unit, unsigned int* deviceCount, nvmlDevice_t* devices);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* deviceCount);
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetHandleBySerial(const char* serial, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t* uuid, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* pciBusId, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length);
nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t* type);
nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int* index);
nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char* serial, unsigned int length);
nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned int* moduleId);
nvmlReturn_t nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device, nvmlC2cModeInfo_v1_t* c2cModeInfo);
nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int nodeSetSize, unsigned long* nodeSet, nvmlAffinityScope_t scope);
nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned int cpuSetSize, unsigned long* cpuSet, nvmlAffinityScope_t scope);
nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int cpuSetSize, unsigned long* cpuSet);
nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device);
nvmlReturn_t nvmlDeviceClearCpuAffinity(nvmlDevice_t device);
nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned int* node);
nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_t* mode);
nvmlReturn_t nvmlDeviceGetRepairStatus(nvmlDevice_t device, nvmlRepairStatus_t* repairStatus);
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device1, nvmlDevice_t device2, nvmlGpuTopologyLevel_t* pathInfo);
nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, nvmlGpuTopologyLevel_t level, unsigned int* count, nvmlDevice_t* deviceArray);
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2, nvmlGpuP2PCapsIndex_t p2pIndex, nvmlGpuP2PStatus_t* p2pStatus);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length);
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int* minorNumber);
nvmlReturn_t nvmlDeviceGetBoardPartNumber(nvmlDevice_t device, char* partNumber, unsigned int length);
nvmlReturn_t nvmlDeviceGetInforomVersion(nvmlDevice_t device, nvmlInforomObject_t object, char* version, unsigned int length);
nvmlReturn_t nvmlDeviceGetInforomImageVersion(nvmlDevice_t device, char* version, unsigned int length);
nvmlReturn_t nvmlDeviceGetInforomConfigurationChecksum(nvmlDevice_t device, unsigned int* checksum);
nvmlReturn_t nvmlDeviceValidateInforom(nvmlDevice_t device);
nvmlReturn_t nvmlDeviceGetLastBBXFlushTime(nvmlDevice_t device, unsigned long long* timestamp, unsigned long* durationUs);
nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t* display);
nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t* isActive);
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t* mode);
nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t* pci);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t* pci);
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* maxLinkGen);
nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* maxLinkGenDevice);
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int* maxLinkWidth);
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int* currLinkGen);
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int* currLinkWidth);
nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter, unsigned int* value);
nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int* value);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* clock);
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int* clock);
nvmlReturn_t nvmlDeviceGetGpcClkVfOffset(nvmlDevice_t device, int* offset);
nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t clockType, unsigned int* clockMHz);
nvmlReturn_t nvmlDeviceGetDefaultApplicationsClock(nvmlDevice_t device, nvmlClockType_t clockType, unsigned int* clockMHz);
nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, nvmlClockType_t clockType, nvmlClockId_t clockId, unsigned int* clockMHz);
nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, nvmlClockType_t clockType, unsigned int* clockMHz);
nvmlReturn_t nvmlDeviceGetSupportedMemoryClocks(nvmlDevice_t device, unsigned int* count, unsigned int* clocksMHz);
nvmlReturn_t nvmlDeviceGetSupportedGraphicsClocks(nvmlDevice_t device, unsigned int memoryClockMHz, unsigned int* count, unsigned int* clocksMHz);
nvmlReturn_t nvmlDeviceGetAutoBoostedClocksEnabled(nvmlDevice_t device, nvmlEnableState_t* isEnabled, nvmlEnableState_t* defaultIsEnabled);
nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned int* speed);
nvmlReturn_t nvmlDeviceGetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int* speed);
nvmlReturn_t nvmlDeviceGetFanSpeedRPM(nvmlDevice_t device, nvmlFanSpeedInfo_t* fanSpeed);
nvmlReturn_t nvmlDeviceGetTargetFanSpeed(nvmlDevice_t device, unsigned int fan, unsigned int* targetSpeed);
nvmlReturn_t nvmlDeviceGetMinMaxFanSpeed(nvmlDevice_t device, unsigned int* minSpeed, unsigned int* maxSpeed);
nvmlReturn_t nvmlDeviceGetFanControlPolicy_v2(nvmlDevice_t device, unsigned int fan, nvmlFanControlPolicy_t* policy);
nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned int* numFans);
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensorType, unsigned int* temp);
nvmlReturn_t nvmlDeviceGetCoolerInfo(nvmlDevice_t device, nvmlCoolerInfo_t* coolerInfo);
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_t* temperature);
nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, nvmlTemperatureThresholds_t thresholdType, unsigned int* temp);
nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_t* marginTempInfo);
nvmlReturn_t nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned int sensorIndex, nvmlGpuThermalSettings_t* pThermalSettings);
nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, nvmlPstates_t* pState);
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* clocksEventReasons);
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long* clocksThrottleReasons);
nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device, unsigned long long* supportedClocksEventReasons);
nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device, unsigned long long* supportedClocksThrottleReasons);
nvmlReturn_t nvmlDeviceGetPowerState(nvmlDevice_t device, nvmlPstates_t* pState);
nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t* pDynamicPstatesInfo);
nvmlReturn_t nvmlDeviceGetMemClkVfOffset(nvmlDevice_t device, int* offset);
nvmlReturn_t nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t device, nvmlClockType_t type, nvmlPstates_t pstate, unsigned int* minClockMHz, unsigned int* maxClockMHz);
nvmlReturn_t nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t device, nvmlPstates_t* pstates, unsigned int size);
nvmlReturn_t nvmlDeviceGetGpcClkMinMaxVfOffset(nvmlDevice_t device, int* minOffset, int* maxOffset);
nvmlReturn_t nvmlDeviceGetMemClkMinMaxVfOffset(nvmlDevice_t device, int* minOffset, int* maxOffset);
nvmlReturn_t nvmlDeviceGetClockOffsets(nvmlDevice_t device, nvmlClockOffset_t* info);
nvmlReturn_t nvmlDeviceSetClockOffsets(nvmlDevice_t device, nvmlClockOffset_t* info);
nvmlReturn_t nvmlDeviceGetPerformanceModes(nvmlDevice_t device, nvmlDevicePerfModes_t* perfModes);
nvmlReturn_t nvmlDeviceGetCurrentClockFreqs(nvmlDevice_t device, nvmlDeviceCurrentClockFreqs_t* currentClockFreqs);
nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, nvmlEnableState_t* mode);
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int* limit);
nvmlReturn_t nvmlDeviceGetPowerManagementLimitConstraints(nvmlDevice_t device, unsigned int* minLimit, unsigned int* maxLimit);
nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, unsigned int* defaultLimit);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* power);
nvmlReturn_t nvmlDeviceGetPowerMizerMode_v1(nvmlDevice_t device, nvmlDevicePowerMizerModes_v1_t* powerMizerMode);
nvmlReturn_t nvmlDeviceSetPowerMizerMode_v1(nvmlDevice_t device, nvmlDevicePowerMizerModes_v1_t* powerMizerMode);
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long* energy);
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int* limit);
nvmlReturn_t nvmlDeviceGetGpuOperationMode(nvmlDevice_t device, nvmlGpuOperationMode_t* current, nvmlGpuOperationMode_t* pending);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory);
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory);
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t* mode);
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int* major, int* minor);
nvmlReturn_t nvmlDeviceGetDramEncryptionMode(nvmlDevice_t device, nvmlDramEncryptionInfo_t* current, nvmlDramEncryptionInfo_t* pending);
nvmlReturn_t nvmlDeviceSetDramEncryptionMode(nvmlDevice_t device, const nvmlDramEncryptionInfo_t* dramEncryption);
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current, nvmlEnableState_t* pending);
nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t* defaultMode);
nvmlReturn_t nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned int* boardId);
nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int* multiGpuBool);
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t errorType, nvmlEccCounterType_t counterType, unsigned long long* eccCounts);
nvmlReturn_t nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t errorType, nvmlEccCounterType_t counterType, nvmlEccErrorCounts_t* eccCounts);
nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t errorType, nvmlEccCounterType_t counterType, nvmlMemoryLocation_t locationType, unsigned long long* count);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* utilization);
nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int* utilization, unsigned int* samplingPeriodUs);
nvmlReturn_t nvmlDeviceGetEncoderCapacity(nvmlDevice_t device, nvmlEncoderType_t encoderQueryType, unsigned int* encoderCapacity);
nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned int* sessionCount, unsigned int* averageFps, unsigned int* averageLatency);
nvmlReturn_t nvmlDeviceGetEncoderSessions(nvmlDevice_t device, unsigned int* sessionCount, nvmlEncoderSessionInfo_t* sessionInfos);
nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int* utilization, unsigned int* samplingPeriodUs);
nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned int* utilization, unsigned int* samplingPeriodUs);
nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned int* utilization, unsigned int* samplingPeriodUs);
nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t* fbcStats);
nvmlReturn_t nvmlDeviceGetFBCSessions(nvmlDevice_t device, unsigned int* sessionCount, nvmlFBCSessionInfo_t* sessionInfo);
nvmlReturn_t nvmlDeviceGetDriverModel_v2(nvmlDevice_t device, nvmlDriverModel_t* current, nvmlDriverModel_t* pending);
nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char* version, unsigned int length);
nvmlReturn_t nvmlDeviceGetBridgeChipInfo(nvmlDevice_t device, nvmlBridgeChipHierarchy_t* bridgeHierarchy);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* infoCount, nvmlProcessInfo_t* infos);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int* infoCount, nvmlProcessInfo_t* infos);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* infoCount, nvmlProcessInfo_t* infos);
nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t* plist);
nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device1, nvmlDevice_t device2, int* onSameBoard);
nvmlReturn_t nvmlDeviceGetAPIRestriction(nvmlDevice_t device, nvmlRestrictedAPI_t apiType, nvmlEnableState_t* isRestricted);
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type, unsigned long long lastSeenTimeStamp, nvmlValueType_t* sampleValType, unsigned int* sampleCount, nvmlSample_t* samples);
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t* bar1Memory);
nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t perfPolicyType, nvmlViolationTime_t* violTime);
nvmlReturn_t nvmlDeviceGetIrqNum(nvmlDevice_t device, unsigned int* irqNum);
nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned int* numCores);
nvmlReturn_t nvmlDeviceGetPowerSource(nvmlDevice_t device, nvmlPowerSource_t* powerSource);
nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int* busWidth);
nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned int* maxSpeed);
nvmlReturn_t nvmlDeviceGetPcieSpeed(nvmlDevice_t device, unsigned int* pcieSpeed);
nvmlReturn_t nvmlDeviceGetAdaptiveClockInfoStatus(nvmlDevice_t device, unsigned int* adaptiveClockStatus);
nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t* type);
nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t* gpuFabricInfo);
nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t* gpuFabricInfo);
nvmlReturn_t nvmlSystemGetConfComputeCapabilities(nvmlConfComputeSystemCaps_t* capabilities);
nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t* state);
nvmlReturn_t nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice_t device, nvmlConfComputeMemSizeInfo_t* memInfo);
nvmlReturn_t nvmlSystemGetConfComputeGpusReadyState(unsigned int* isAcceptingWork);
nvmlReturn_t nvmlDeviceGetConfComputeProtectedMemoryUsage(nvmlDevice_t device, nvmlMemory_t* memory);
nvmlReturn_t nvmlDeviceGetConfComputeGpuCertificate(nvmlDevice_t device, nvmlConfComputeGpuCertificate_t* gpuCert);
nvmlReturn_t nvmlDeviceGetConfComputeGpuAttestationReport(nvmlDevice_t device, nvmlConfComputeGpuAttestationReport_t* gpuAtstReport);
nvmlReturn_t nvmlSystemGetConfComputeKeyRotationThresholdInfo(nvmlConfComputeGetKeyRotationThresholdInfo_t* pKeyRotationThrInfo);
nvmlReturn_t nvmlDeviceSetConfComputeUnprotectedMemSize(nvmlDevice_t device, unsigned long long sizeKiB);
nvmlReturn_t nvmlSystemSetConfComputeGpusReadyState(unsigned int isAcceptingWork);
nvmlReturn_t nvmlSystemSetConfComputeKeyRotationThresholdInfo(nvmlConfComputeSetKeyRotationThresholdInfo_t* pKeyRotationThrInfo);
nvmlReturn_t nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t* settings);
nvmlReturn_t nvmlDeviceGetGspFirmwareVersion(nvmlDevice_t device, char* version);
nvmlReturn_t nvmlDeviceGetGspFirmwareMode(nvmlDevice_t device, unsigned int* isEnabled, unsigned int* defaultMode);
nvmlReturn_t nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device, nvmlEccSramErrorStatus_t* status);
nvmlReturn_t nvmlDeviceSetPowerManagementLimit_v2(nvmlDevice_t device, nvmlPowerValue_v2_t* powerValue);
nvmlReturn_t nvmlDeviceGetAccountingMode(nvmlDevice_t device, nvmlEnableState_t* mode);
nvmlReturn_t nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned int pid, nvmlAccountingStats_t* stats);
nvmlReturn_t nvmlDeviceGetAccountingPids(nvmlDevice_t device, unsigned int* count, unsigned int* pids);
nvmlReturn_t nvmlDeviceGetAccountingBufferSize(nvmlDevice_t device, unsigned int* bufferSize);
nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, nvmlPageRetirementCause_t cause, unsigned int* pageCount, unsigned long long* addresses);
nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device, nvmlPageRetirementCause_t cause, unsigned int* pageCount, unsigned long long* addresses, unsigned long long* timestamps);
nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device, nvmlEnableState_t* isPending);
nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int* corrRows, unsigned int* uncRows, unsigned int* isPending, unsigned int* failureOccurred);
nvmlReturn_t nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device, nvmlRowRemapperHistogramValues_t* values);
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t* arch);
nvmlReturn_t nvmlDeviceGetClkMonStatus(nvmlDevice_t device, nvmlClkMonStatus_t* status);
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t* utilization, unsigned int* processSamplesCount, unsigned long long lastSeenTimeStamp);
nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device, nvmlProcessesUtilizationInfo_t* procesesUtilInfo);
nvmlReturn_t nvmlDeviceGetPlatformInfo(nvmlDevice_t device, nvmlPlatformInfo_t* platformInfo);
nvmlReturn_t nvmlDeviceGetPdi(nvmlDevice_t device, nvmlPdi_t* pdi);
nvmlReturn_t nvmlUnitSetLedState(nvmlUnit_t unit, nvmlLedColor_t color);
nvmlReturn_t nvmlDeviceSetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t mode);
nvmlReturn_t nvmlDeviceSetComputeMode(nvmlDevice_t device, nvmlComputeMode_t mode);
nvmlReturn_t nvmlDeviceSetEccMode(nvmlDevice_t device, nvmlEnableState_t ecc);
nvmlReturn_t nvmlDeviceClearEccErrorCounts(nvmlDevice_t device, nvmlEccCounterType_t counterType);
nvmlReturn_t nvmlDeviceSetDriverModel(nvmlDevice_t device, nvmlDriverModel_t driverModel, unsigned int flags);
nvmlReturn_t nvmlDeviceSetGpuLockedClocks(nvmlDevice_t device, unsigned int minGpuClockMHz, unsigned int maxGpuClockMHz);
nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t device);
nvmlReturn_t nvmlDeviceSetMemoryLockedClocks(nvmlDevice_t device, unsigned int minMemClockMHz, unsigned int maxMemClockMHz);
nvmlReturn_t nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t device);
nvmlReturn_t nvmlDeviceSetApplicationsClocks(nvmlDevice_t device, unsigned int memClockMHz, unsigned int graphicsClockMHz);
nvmlReturn_t nvmlDeviceResetApplicationsClocks(nvmlDevice_t device);
nvmlReturn_t nvmlDeviceSetAutoBoostedClocksEnabled(nvmlDevice_t device, nvmlEnableState_t enabled);
nvmlReturn_t nvmlDeviceSetDefaultAutoBoostedClocksEnabled(nvmlDevice_t device, nvmlEnableState_t enabled, unsigned int flags);
nvmlReturn_t nvmlDeviceSetDefaultFanSpeed_v2(nvmlDevice_t device, unsigned int fan);
nvmlReturn_t nvmlDeviceSetFanControlPolicy(nvmlDevice_t device, unsigned int fan, nvmlFanControlPolicy_t policy);
nvmlReturn_t nvmlDeviceSetTemperatureThreshold(nvmlDevice_t device, nvmlTemperatureThresholds_t thresholdType, int* temp);
nvmlReturn_t nvmlDeviceSetPowerManagementLimit(nvmlDevice_t device, unsigned int limit);
nvmlReturn_t nvmlDeviceSetGpuOperationMode(nvmlDevice_t device, nvmlGpuOperationMode_t mode);
nvmlReturn_t nvmlDeviceSetAPIRestriction(nvmlDevice_t device, nvmlRestrictedAPI_t apiType, nvmlEnableState_t isRestricted);
nvmlReturn_t nvmlDeviceSetFanSpeed_v2(nvmlDevice_t device, unsigned int fan, unsigned int speed);
nvmlReturn_t nvmlDeviceSetGpcClkVfOffset(nvmlDevice_t device, int offset);
nvmlReturn_t nvmlDeviceSetMemClkVfOffset(nvmlDevice_t device, int offset);
nvmlReturn_t nvmlDeviceSetAccountingMode(nvmlDevice_t device, nvmlEnableState_t mode);
nvmlReturn_t nvmlDeviceClearAccountingPids(nvmlDevice_t device);
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t* isActive);
nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned int link, unsigned int* version);
nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned int link, nvmlNvLinkCapability_t capability, unsigned int* capResult);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t* pci);
nvmlReturn_t nvmlDeviceGetNvLinkErrorCounter(nvmlDevice_t device, unsigned int link, nvmlNvLinkErrorCounter_t counter, unsigned long long* counterValue);
nvmlReturn_t nvmlDeviceResetNvLinkErrorCounters(nvmlDevice_t device, unsigned int link);
nvmlReturn_t nvmlDeviceSetNvLinkUtilizationControl(nvmlDevice_t device, unsigned int link, unsigned int counter, nvmlNvLinkUtilizationControl_t* control, unsigned int reset);
nvmlReturn_t nvmlDeviceGetNvLinkUtilizationControl(nvmlDevice_t device, unsigned int link, unsigned int counter, nvmlNvLinkUtilizationControl_t* control);
nvmlReturn_t nvmlDeviceGetNvLinkUtilizationCounter(nvmlDevice_t device, unsigned int link, unsigned int counter, unsigned long long* rxcounter, unsigned long long* txcounter);
nvmlReturn_t nvmlDeviceFreezeNvLinkUtilizationCounter(nvmlDevice_t device, unsigned int link, unsigned int counter, nvmlEnableState_t freeze);
nvmlReturn_t nvmlDeviceResetNvLinkUtilizationCounter(nvmlDevice_t device, unsigned int link, unsigned int counter);
nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link, nvmlIntNvLinkDeviceType_t* pNvLinkDeviceType);
nvmlReturn_t nvmlDeviceSetNvLinkDeviceLowPowerThreshold(nvmlDevice_t device, nvmlNvLinkPowerThres_t* info);
nvmlReturn_t nvmlSystemSetNvlinkBwMode(unsigned int nvlinkBwMode);
nvmlReturn_t nvmlSystemGetNvlinkBwMode(unsigned int* nvlinkBwMode);
nvmlReturn_t nvmlDeviceGetNvlinkSupportedBwModes(nvmlDevice_t device, nvmlNvlinkSupportedBwModes_t* supportedBwMode);
nvmlReturn_t nvmlDeviceGetNvlinkBwMode(nvmlDevice_t device, nvmlNvlinkGetBwMode_t* getBwMode);
nvmlReturn_t nvmlDeviceSetNvlinkBwMode(nvmlDevice_t device, nvmlNvlinkSetBwMode_t* setBwMode);
nvmlReturn_t nvmlDeviceGetNvLinkInfo(nvmlDevice_t device, nvmlNvLinkInfo_t* info);
nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t* set);
nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long eventTypes, nvmlEventSet_t set);
nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long* eventTypes);
nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t* data, unsigned int timeoutms);
nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set);
nvmlReturn_t nvmlSystemEventSetCreate(nvmlSystemEventSetCreateRequest_t* request);
nvmlReturn_t nvmlSystemEventSetFree(nvmlSystemEventSetFreeRequest_t* request);
nvmlReturn_t nvmlSystemRegisterEvents(nvmlSystemRegisterEventRequest_t* request);
nvmlReturn_t nvmlSystemEventSetWait(nvmlSystemEventSetWaitRequest_t* request);
nvmlReturn_t nvmlDeviceModifyDrainState(nvmlPciInfo_t* pciInfo, nvmlEnableState_t newState);
nvmlReturn_t nvmlDeviceQueryDrainState(nvmlPciInfo_t* pciInfo, nvmlEnableState_t* currentState);
nvmlReturn_t nvmlDeviceRemoveGpu_v2(nvmlPciInfo_t* pciInfo, nvmlDetachGpuState_t gpuState, nvmlPcieLinkState_t linkState);
nvmlReturn_t nvmlDeviceDiscoverGpus(nvmlPciInfo_t* pciInfo);
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t* values);
nvmlReturn_t nvmlDeviceClearFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t* values);
nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t* pVirtualMode);
nvmlReturn_t nvmlDeviceGetHostVgpuMode(nvmlDevice_t device, nvmlHostVgpuMode_t* pHostVgpuMode);
nvmlReturn_t nvmlDeviceSetVirtualizationMode(nvmlDevice_t device, nvmlGpuVirtualizationMode_t virtualMode);
nvmlReturn_t nvmlDeviceGetVgpuHeterogeneousMode(nvmlDevice_t device, nvmlVgpuHeterogeneousMode_t* pHeterogeneousMode);
nvmlReturn_t nvmlDeviceSetVgpuHeterogeneousMode(nvmlDevice_t device, const nvmlVgpuHeterogeneousMode_t* pHeterogeneousMode);
nvmlReturn_t nvmlVgpuInstanceGetPlacementId(nvmlVgpuInstance_t vgpuInstance, nvmlVgpuPlacementId_t* pPlacement);
nvmlReturn_t nvmlDeviceGetVgpuTypeSupportedPlacements(nvmlDevice_t device, nvmlVgpuTypeId_t vgpuTypeId, nvmlVgpuPlacementList_t* pPlacementList);
nvmlReturn_t nvmlDeviceGetVgpuTypeCreatablePlacements(nvmlDevice_t device, nvmlVgpuTypeId_t vgpuTypeId, nvmlVgpuPlacementList_t* pPlacementList);
nvmlReturn_t nvmlVgpuTypeGetGspHeapSize(nvmlVgpuTypeId_t vgpuTypeId, unsigned long long* gspHeapSize);
nvmlReturn_t nvmlVgpuTypeGetFbReservation(nvmlVgpuTypeId_t vgpuTypeId, unsigned long long* fbReservation);
nvmlReturn_t nvmlVgpuInstanceGetRuntimeStateSize(nvmlVgpuInstance_t vgpuInstance, nvmlVgpuRuntimeState_t* pState);
nvmlReturn_t nvmlDeviceSetVgpuCapabilities(nvmlDevice_t device, nvmlDeviceVgpuCapability_t capability, nvmlEnableState_t state);
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v4(nvmlDevice_t device, nvmlGridLicensableFeatures_t* pGridLicensableFeatures);
nvmlReturn_t nvmlGetVgpuDriverCapabilities(nvmlVgpuDriverCapability_t capability, unsigned int* capResult);
nvmlReturn_t nvmlDeviceGetVgpuCapabilities(nvmlDevice_t device, nvmlDeviceVgpuCapability_t capability, unsigned int* capResult);
nvmlReturn_t nvmlDeviceGetSupportedVgpus(nvmlDevice_t device, unsigned int* vgpuCount, nvmlVgpuTypeId_t* vgpuTypeIds);
nvmlReturn_t nvmlDeviceGetCreatableVgpus(nvmlDevice_t device, unsigned int* vgpuCount, nvmlVgpuTypeId_t* vgpuTypeIds);
nvmlReturn_t nvmlVgpuTypeGetClass(nvmlVgpuTypeId_t vgpuTypeId, char* vgpuTypeClass, unsigned int* size);
nvmlReturn_t nvmlVgpuTypeGetName(nvmlVgpuTypeId_t vgpuTypeId, char* vgpuTypeName, unsigned int* size);
nvmlReturn_t nvmlVgpuTypeGetGpuInstanceProfileId(nvmlVgpuTypeId_t vgpuTypeId, unsigned int* gpuInstanceProfileId);
nvmlReturn_t nvmlVgpuTypeGetDeviceID(nvmlVgpuTypeId_t vgpuTypeId, unsigned long long* deviceID, unsigned long long* subsystemID);
nvmlReturn_t nvmlVgpuTypeGetFramebufferSize(nvmlVgpuTypeId_t vgpuTypeId, unsigned long long* fbSize);
nvmlReturn_t nvmlVgpuTypeGetNumDisplayHeads(nvmlVgpuTypeId_t vgpuTypeId, unsigned int* numDisplayHeads);
nvmlReturn_t nvmlVgpuTypeGetResolution(nvmlVgpuTypeId_t vgpuTypeId, unsigned int displayIndex, unsigned int* xdim, unsigned int* ydim);
nvmlReturn_t nvmlVgpuTypeGetLicense(nvmlVgpuTypeId_t vgpuTypeId, char* vgpuTypeLicenseString, unsigned int size);
nvmlReturn_t nvmlVgpuTypeGetFrameRateLimit(nvmlVgpuTypeId_t vgpuTypeId, unsigned int* frameRateLimit);
nvmlReturn_t nvmlVgpuTypeGetMaxInstances(nvmlDevice_t device, nvmlVgpuTypeId_t vgpuTypeId, unsigned int* vgpuInstanceCount);
nvmlReturn_t nvmlVgpuTypeGetMaxInstancesPerVm(nvmlVgpuTypeId_t vgpuTypeId, unsigned int* vgpuInstanceCountPerVm);
nvmlReturn_t nvmlVgpuTypeGetBAR1Info(nvmlVgpuTypeId_t vgpuTypeId, nvmlVgpuTypeBar1Info_t* bar1Info);
nvmlReturn_t nvmlDeviceGetActiveVgpus(nvmlDevice_t device, unsigned int* vgpuCount, nvmlVgpuInstance_t* vgpuInstances);
nvmlReturn_t nvmlVgpuInstanceGetVmID(nvmlVgpuInstance_t vgpuInstance, char* vmId, unsigned int size, nvmlVgpuVmIdType_t* vmIdType);
nvmlReturn_t nvmlVgpuInstanceGetUUID(nvmlVgpuInstance_t vgpuInstance, char* uuid, unsigned int size);
nvmlReturn_t nvmlVgpuInstanceGetVmDriverVersion(nvmlVgpuInstance_t vgpuInstance, char* version, unsigned int length);
nvmlReturn_t nvmlVgpuInstanceGetFbUsage(nvmlVgpuInstance_t vgpuInstance, unsigned long long* fbUsage);
nvmlReturn_t nvmlVgpuInstanceGetLicenseStatus(nvmlVgpuInstance_t vgpuInstance, unsigned int* licensed);
nvmlReturn_t nvmlVgpuInstanceGetType(nvmlVgpuInstance_t vgpuInstance, nvmlVgpuTypeId_t* vgpuTypeId);
nvmlReturn_t nvmlVgpuInstanceGetFrameRateLimit(nvmlVgpuInstance_t vgpuInstance, unsigned int* frameRateLimit);
nvmlReturn_t nvmlVgpuInstanceGetEccMode(nvmlVgpuInstance_t vgpuInstance, nvmlEnableState_t* eccMode);
nvmlReturn_t nvmlVgpuInstanceGetEncoderCapacity(nvmlVgpuInstance_t vgpuInstance, unsigned int* encoderCapacity);
nvmlReturn_t nvmlVgpuInstanceSetEncoderCapacity(nvmlVgpuInstance_t vgpuInstance, unsigned int encoderCapacity);
nvmlReturn_t nvmlVgpuInstanceGetEncoderStats(nvmlVgpuInstance_t vgpuInstance, unsigned int* sessionCount, unsigned int* averageFps, unsigned int* averageLatency);
nvmlReturn_t nvmlVgpuInstanceGetEncoderSessions(nvmlVgpuInstance_t vgpuInstance, unsigned int* sessionCount, nvmlEncoderSessionInfo_t* sessionInfo);
nvmlReturn_t nvmlVgpuInstanceGetFBCStats(nvmlVgpuInstance_t vgpuInstance, nvmlFBCStats_t* fbcStats);
nvmlReturn_t nvmlVgpuInstanceGetFBCSessions(nvmlVgpuInstance_t vgpuInstance, unsigned int* sessionCount, nvmlFBCSessionInfo_t* sessionInfo);
nvmlReturn_t nvmlVgpuInstanceGetGpuInstanceId(nvmlVgpuInstance_t vgpuInstance, unsigned int* gpuInstanceId);
nvmlReturn_t nvmlVgpuInstanceGetGpuPciId(nvmlVgpuInstance_t vgpuInstance, char* vgpuPciId, unsigned int* length);
nvmlReturn_t nvmlVgpuTypeGetCapabilities(nvmlVgpuTypeId_t vgpuTypeId, nvmlVgpuCapability_t capability, unsigned int* capResult);
nvmlReturn_t nvmlVgpuInstanceGetMdevUUID(nvmlVgpuInstance_t vgpuInstance, char* mdevUuid, unsigned int size);
nvmlReturn_t nvmlGpuInstanceGetCreatableVgpus(nvmlGpuInstance_t gpuInstance, nvmlVgpuTypeIdInfo_t* pVgpus);
nvmlReturn_t nvmlVgpuTypeGetMaxInstancesPerGpuInstance(nvmlVgpuTypeMaxInstance_t* pMaxInstance);
nvmlReturn_t nvmlGpuInstanceGetActiveVgpus(nvmlGpuInstance_t gpuInstance, nvmlActiveVgpuInstanceInfo_t* pVgpuInstanceInfo);
nvmlReturn_t nvmlGpuInstanceSetVgpuSchedulerState(nvmlGpuInstance_t gpuInstance, nvmlVgpuSchedulerState_t* pScheduler);
nvmlReturn_t nvmlGpuInstanceGetVgpuSchedulerState(nvmlGpuInstance_t gpuInstance, nvmlVgpuSchedulerStateInfo_t* pSchedulerStateInfo);
nvmlReturn_t nvmlGpuInstanceGetVgpuSchedulerLog(nvmlGpuInstance_t gpuInstance, nvmlVgpuSchedulerLogInfo_t* pSchedulerLogInfo);
nvmlReturn_t nvmlGpuInstanceGetVgpuTypeCreatablePlacements(nvmlGpuInstance_t gpuInstance, nvmlVgpuCreatablePlacementInfo_t* pCreatablePlacementInfo);
nvmlReturn_t nvmlGpuInstanceGetVgpuHeterogeneousMode(nvmlGpuInstance_t gpuInstance, nvmlVgpuHeterogeneousMode_t* pHeterogeneousMode);
nvmlReturn_t nvmlGpuInstanceSetVgpuHeterogeneousMode(nvmlGpuInstance_t gpuInstance, const nvmlVgpuHeterogeneousMode_t* pHeterogeneousMode);
nvmlReturn_t nvmlVgpuInstanceGetMetadata(nvmlVgpuInstance_t vgpuInstance, nvmlVgpuMetadata_t* vgpuMetadata, unsigned int* bufferSize);
nvmlReturn_t nvmlDeviceGetVgpuMetadata(nvmlDevice_t device, nvmlVgpuPgpuMetadata_t* pgpuMetadata, unsigned int* bufferSize);
nvmlReturn_t nvmlGetVgpuCompatibility(nvmlVgpuMetadata_t* vgpuMetadata, nvmlVgpuPgpuMetadata_t* pgpuMetadata, nvmlVgpuPgpuCompatibility_t* compatibilityInfo);
nvmlReturn_t nvmlDeviceGetPgpuMetadataString(nvmlDevice_t device, char* pgpuMetadata, unsigned int* bufferSize);
nvmlReturn_t nvmlDeviceGetVgpuSchedulerLog(nvmlDevice_t device, nvmlVgpuSchedulerLog_t* pSchedulerLog);
nvmlReturn_t nvmlDeviceGetVgpuSchedulerState(nvmlDevice_t device, nvmlVgpuSchedulerGetState_t* pSchedulerState);
nvmlReturn_t nvmlDeviceGetVgpuSchedulerCapabilities(nvmlDevice_t device, nvmlVgpuSchedulerCapabilities_t* pCapabilities);
nvmlReturn_t nvmlDeviceSetVgpuSchedulerState(nvmlDevice_t device, nvmlVgpuSchedulerSetState_t* pSchedulerState);
nvmlReturn_t nvmlGetVgpuVersion(nvmlVgpuVersion_t* supported, nvmlVgpuVersion_t* current);
nvmlReturn_t nvmlSetVgpuVersion(nvmlVgpuVersion_t* vgpuVersion);
nvmlReturn_t nvmlDeviceGetVgpuUtilization(nvmlDevice_t device, unsigned long long lastSeenTimeStamp, nvmlValueType_t* sampleValType, unsigned int* vgpuInstanceSamplesCount, nvmlVgpuInstanceUtilizationSample_t* utilizationSamples);
nvmlReturn_t nvmlDeviceGetVgpuInstancesUtilizationInfo(nvmlDevice_t device, nvmlVgpuInstancesUtilizationInfo_t* vgpuUtilInfo);
nvmlReturn_t nvmlDeviceGetVgpuProcessUtilization(nvmlDevice_t device, unsigned long long lastSeenTimeStamp, unsigned int* vgpuProcessSamplesCount, nvmlVgpuProcessUtilizationSample_t* utilizationSamples);
nvmlReturn_t nvmlDeviceGetVgpuProcessesUtilizationInfo(nvmlDevice_t device, nvmlVgpuProcessesUtilizationInfo_t* vgpuProcUtilInfo);
nvmlReturn_t nvmlVgpuInstanceGetAccountingMode(nvmlVgpuInstance_t vgpuInstance, nvmlEnableState_t* mode);
nvmlReturn_t nvmlVgpuInstanceGetAccountingPids(nvmlVgpuInstance_t vgpuInstance, unsigned int* count, unsigned int* pids);
nvmlReturn_t nvmlVgpuInstanceGetAccountingStats(nvmlVgpuInstance_t vgpuInstance, unsigned int pid, nvmlAccountingStats_t* stats);
nvmlReturn_t nvmlVgpuInstanceClearAccountingPids(nvmlVgpuInstance_t vgpuInstance);
nvmlReturn_t nvmlVgpuInstanceGetLicenseInfo_v2(nvmlVgpuInstance_t vgpuInstance, nvmlVgpuLicenseInfo_t* licenseInfo);
nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned int* deviceCount);
nvmlReturn_t nvmlGetExcludedDeviceInfoByIndex(unsigned int index, nvmlExcludedDeviceInfo_t* info);
nvmlReturn_t nvmlDeviceReadWritePRM_v1(nvmlDevice_t device, nvmlPRMTLV_v1_t* buffer);
nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned int mode, nvmlReturn_t* activationStatus);
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int* currentMode, unsigned int* pendingMode);
nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned int profile, nvmlGpuInstanceProfileInfo_t* info);
nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned int profile, nvmlGpuInstanceProfileInfo_v2_t* info);
nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoByIdV(nvmlDevice_t device, unsigned int profileId, nvmlGpuInstanceProfileInfo_v2_t* info);
nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, unsigned int profileId, nvmlGpuInstancePlacement_t* placements, unsigned int* count);
nvmlReturn_t nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device, unsigned int profileId, unsigned int* count);
nvmlReturn_t nvmlDeviceCreateGpuInstance(nvmlDevice_t device, unsigned int profileId, nvmlGpuInstance_t* gpuInstance);
nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, unsigned int profileId, const nvmlGpuInstancePlacement_t* placement, nvmlGpuInstance_t* gpuInstance);
nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t gpuInstance);
nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned int profileId, nvmlGpuInstance_t* gpuInstances, unsigned int* count);
nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned int id, nvmlGpuInstance_t* gpuInstance);
nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t gpuInstance, nvmlGpuInstanceInfo_t* info);
nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t gpuInstance, unsigned int profile, unsigned int engProfile, nvmlComputeInstanceProfileInfo_t* info);
nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfoV(nvmlGpuInstance_t gpuInstance, unsigned int profile, unsigned int engProfile, nvmlComputeInstanceProfileInfo_v2_t* info);
nvmlReturn_t nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvmlGpuInstance_t gpuInstance, unsigned int profileId, unsigned int* count);
nvmlReturn_t nvmlGpuInstanceGetComputeInstancePossiblePlacements(nvmlGpuInstance_t gpuInstance, unsigned int profileId, nvmlComputeInstancePlacement_t* placements, unsigned int* count);
nvmlReturn_t nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t gpuInstance, unsigned int profileId, nvmlComputeInstance_t* computeInstance);
nvmlReturn_t nvmlGpuInstanceCreateComputeInstanceWithPlacement(nvmlGpuInstance_t gpuInstance, unsigned int profileId, const nvmlComputeInstancePlacement_t* placement, nvmlComputeInstance_t* computeInstance);
nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t computeInstance);
nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t gpuInstance, unsigned int profileId, nvmlComputeInstance_t* computeInstances, unsigned int* count);
nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t gpuInstance, unsigned int id, nvmlComputeInstance_t* computeInstance);
nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t computeInstance, nvmlComputeInstanceInfo_t* info);
nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int* isMigDevice);
nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int* id);
nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned int* id);
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int* count);
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, nvmlDevice_t* migDevice);
nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t migDevice, nvmlDevice_t* device);
nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t* metricsGet);
nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t gpmSample);
nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t* gpmSample);
nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t gpmSample);
nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned int gpuInstanceId, nvmlGpmSample_t gpmSample);
nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t* gpmSupport);
nvmlReturn_t nvmlGpmQueryIfStreamingEnabled(nvmlDevice_t device, unsigned int* state);
nvmlReturn_t nvmlGpmSetStreamingEnabled(nvmlDevice_t device, unsigned int state);
nvmlReturn_t nvmlDeviceGetCapabilities(nvmlDevice_t device, nvmlDeviceCapabilities_t* caps);
nvmlReturn_t nvmlDeviceWorkloadPowerProfileGetProfilesInfo(nvmlDevice_t device, nvmlWorkloadPowerProfileProfilesInfo_t* profilesInfo);
nvmlReturn_t nvmlDeviceWorkloadPowerProfileGetCurrentProfiles(nvmlDevice_t device, nvmlWorkloadPowerProfileCurrentProfiles_t* currentProfiles);
nvmlReturn_t nvmlDeviceWorkloadPowerProfileSetRequestedProfiles(nvmlDevice_t device, nvmlWorkloadPowerProfileRequestedProfiles_t* requestedProfiles);
nvmlReturn_t nvmlDeviceWorkloadPowerProfileClearRequestedProfiles(nvmlDevice_t device, nvmlWorkloadPowerProfileRequestedProfiles_t* requestedProfiles);
nvmlReturn_t nvmlDevicePowerSmoothingActivatePresetProfile(nvmlDevice_t device, nvmlPowerSmoothingProfile_t* profile);
nvmlReturn_t nvmlDevicePowerSmoothingUpdatePresetProfileParam(nvmlDevice_t device, nvmlPowerSmoothingProfile_t* profile);
nvmlReturn_t nvmlDevicePowerSmoothingSetState(nvmlDevice_t device, nvmlPowerSmoothingState_t* state);
nvmlReturn_t nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(nvmlDevice_t device, nvmlEccSramUniqueUncorrectedErrorCounts_t* errorCounts);
nvmlReturn_t nvmlInit();
nvmlReturn_t nvmlDeviceGetCount(unsigned int* deviceCount);
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char* pciBusId, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t* pci);
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t* pci);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t* pci);
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures(nvmlDevice_t device, nvmlGridLicensableFeatures_t* pGridLicensableFeatures);
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v2(nvmlDevice_t device, nvmlGridLicensableFeatures_t* pGridLicensableFeatures);
nvmlReturn_t nvmlDeviceGetGridLicensableFeatures_v3(nvmlDevice_t device, nvmlGridLicensableFeatures_t* pGridLicensableFeatures);
nvmlReturn_t nvmlDeviceRemoveGpu(nvmlPciInfo_t* pciInfo);
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t* data, unsigned int timeoutms);
nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes);
nvmlReturn_t nvmlComputeInstanceGetInfo(nvmlComputeInstance_t computeInstance, nvmlComputeInstanceInfo_t* info);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int* infoCount, nvmlProcessInfo_v1_t* infos);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* infoCount, nvmlProcessInfo_t* infos);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int* infoCount, nvmlProcessInfo_v1_t* infos);
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int* infoCount, nvmlProcessInfo_t* infos);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int* infoCount, nvmlProcessInfo_v1_t* infos);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* infoCount, nvmlProcessInfo_t* infos);
nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements(nvmlDevice_t device, unsigned int profileId, nvmlGpuInstancePlacement_t* placements, unsigned int* count);
nvmlReturn_t nvmlVgpuInstanceGetLicenseInfo(nvmlVgpuInstance_t vgpuInstance, nvmlVgpuLicenseInfo_t* licenseInfo);
nvmlReturn_t nvmlDeviceGetDriverModel(nvmlDevice_t device, nvmlDriverModel_t* current, nvmlDriverModel_t* pending);
nvmlReturn_t nvmlInternalGetExportTable(const void** table, const void* id);
nvmlReturn_t nvmlGetBlacklistDeviceCount(unsigned int* deviceCount);
nvmlReturn_t nvmlGetBlacklistDeviceInfoByIndex(unsigned int index, nvmlExcludedDeviceInfo_t* info);

}  // extern "C"
#pragma GCC visibility pop
