// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/names/lists.h"

namespace kiln {

const absl::string_view kRiscV32Processors =
    "generic,generic-rv32,rocket-rv32,sifive-e20,sifive-e21,sifive-e24,sifive-e31,sifive-e34,"
    "sifive-e76,syntacore-scr1-base,syntacore-scr1-max,syntacore-scr3-rv32";

const absl::string_view kRiscV64Processors =
    "generic,generic-rv64,rocket-rv64,sifive-p450,sifive-p670,sifive-s21,sifive-s51,sifive-s54,"
    "sifive-s76,sifive-u54,sifive-u74,sifive-x280,spacemit-x60,syntacore-scr3-rv64,veyron-v1,"
    "xiangshan-nanhu";

const absl::string_view kRiscVFeatures =
    "a,auipc-addi-fusion,b,c,conditional-cmv-fusion,d,dlen-factor-2,e,experimental,"
    "experimental-rva23s64,experimental-rva23u64,experimental-rvb23s64,experimental-rvb23u64,"
    "experimental-rvm23u32,experimental-smmpm,experimental-smnpm,experimental-ssnpm,"
    "experimental-sspm,experimental-ssqosid,experimental-supm,experimental-zacas,"
    "experimental-zalasr,experimental-zicfilp,experimental-zicfiss,f,forced-atomics,"
    "forced-sw-shadow-stack,h,i,ld-add-fusion,lui-addi-fusion,m,no-default-unroll,no-rvc-hints,"
    "no-sink-splat-operands,no-trailing-seq-cst-fence,optimized-zero-stride-load,"
    "predictable-select-expensive,prefer-w-inst,relax,reserve-x1,reserve-x10,reserve-x11,"
    "reserve-x12,reserve-x13,reserve-x14,reserve-x15,reserve-x16,reserve-x17,reserve-x18,"
    "reserve-x19,reserve-x2,reserve-x20,reserve-x21,reserve-x22,reserve-x23,reserve-x24,"
    "reserve-x25,reserve-x26,reserve-x27,reserve-x28,reserve-x29,reserve-x3,reserve-x30,"
    "reserve-x31,reserve-x4,reserve-x5,reserve-x6,reserve-x7,reserve-x8,reserve-x9,rva20s64,"
    "rva20u64,rva22s64,rva22u64,rvi20u32,rvi20u64,save-restore,shcounterenw,shgatpa,"
    "shifted-zextw-fusion,short-forward-branch-opt,shtvala,shvsatpa,shvstvala,shvstvecd,sifive7,"
    "smaia,smcdeleg,smcsrind,smepmp,smstateen,ssaia,ssccfg,ssccptr,sscofpmf,sscounterenw,sscsrind,"
    "ssstateen,ssstrict,sstc,sstvala,sstvecd,ssu64xl,svade,svadu,svbare,svinval,svnapot,svpbmt,"
    "tagged-globals,unaligned-scalar-mem,unaligned-vector-mem,use-postra-scheduler,v,"
    "ventana-veyron,xcvalu,xcvbi,xcvbitmanip,xcvelw,xcvmac,xcvmem,xcvsimd,xsfcease,xsfvcp,"
    "xsfvfnrclipxfqf,xsfvfwmaccqqq,xsfvqmaccdod,xsfvqmaccqoq,xsifivecdiscarddlone,"
    "xsifivecflushdlone,xtheadba,xtheadbb,xtheadbs,xtheadcmo,xtheadcondmov,xtheadfmemidx,"
    "xtheadmac,xtheadmemidx,xtheadmempair,xtheadsync,xtheadvdot,xventanacondops,xwchc,za128rs,"
    "za64rs,zaamo,zabha,zalrsc,zama16b,zawrs,zba,zbb,zbc,zbkb,zbkc,zbkx,zbs,zca,zcb,zcd,zce,zcf,"
    "zcmop,zcmp,zcmt,zdinx,zexth-fusion,zextw-fusion,zfa,zfbfmin,zfh,zfhmin,zfinx,zhinx,zhinxmin,"
    "zic64b,zicbom,zicbop,zicboz,ziccamoa,ziccif,zicclsm,ziccrse,zicntr,zicond,zicsr,zifencei,"
    "zihintntl,zihintpause,zihpm,zimop,zk,zkn,zknd,zkne,zknh,zkr,zks,zksed,zksh,zkt,zmmul,ztso,"
    "zvbb,zvbc,zve32f,zve32x,zve64d,zve64f,zve64x,zvfbfmin,zvfbfwma,zvfh,zvfhmin,zvkb,zvkg,zvkn,"
    "zvknc,zvkned,zvkng,zvknha,zvknhb,zvks,zvksc,zvksed,zvksg,zvksh,zvkt,zvl1024b,zvl128b,"
    "zvl16384b,zvl2048b,zvl256b,zvl32768b,zvl32b,zvl4096b,zvl512b,zvl64b,zvl65536b,zvl8192b";

}  // namespace kiln
