// SPDX-License-Identifier: Apache-2.0
// loop::CpuChoice: queries the CPU's features once, and stores the chosen variant. It needs no
// library and no resolver of the loader (ifunc). The choice is one word; if several threads query
// at the same time, the first one stores it.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "compiler/codegen/llvm/emit_module.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/TargetParser/Triple.h"
#include "runtime_cpp/cpu/x86_features.h"

namespace kiln::codegen {
namespace {

constexpr int kTypeCodeString = 11;
constexpr char kClobbers[] = ",~{dirflag},~{fpsr},~{flags}";
constexpr uint32_t kExtendedLeaves = 0x80000000;

class CpuChoiceEmitter {
 public:
  explicit CpuChoiceEmitter(ModuleContext& context)
      : context_(context),
        types_(context.types),
        choice_(*context.program.cpu_choice),
        builder_(context.module.getContext()) {}

  void Define() {
    chosen_ = new llvm::GlobalVariable(
        context_.module, types_.i32, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
        llvm::ConstantInt::get(types_.i32, 0), choice_.function + ".chosen");
    chosen_->setAlignment(llvm::Align(4));
    DefineFail();
    DefineAsk();
    DefineChoose();
    DefineGet();
    DefineSelect();
    DefineSet();
  }

 private:
  enum CpuidRegister : unsigned { kEax, kEbx, kEcx, kEdx };

  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(context_.module.getContext(), name, function_);
  }

  void Begin(llvm::Function* function) {
    function_ = function;
    builder_.SetInsertPoint(Block("entry"));
  }

  llvm::Function* Internal(const char* suffix, llvm::Type* result,
                           llvm::ArrayRef<llvm::Type*> params) {
    auto* function = llvm::Function::Create(
        llvm::FunctionType::get(result, params, false), llvm::GlobalValue::InternalLinkage,
        absl::StrCat(choice_.function, ".", suffix), context_.module);
    context_.Decorate(function);
    return function;
  }

  // fail(text): records the text as the last error if there is a runtime.
  void DefineFail() {
    fail_ = Internal("fail", builder_.getVoidTy(), {types_.pointer});
    Begin(fail_);
    if (choice_.packed) {
      context_.CallRuntime(builder_, RuntimeFunction::kSetLastError, {fail_->getArg(0)});
      builder_.CreateRetVoid();
      return;
    }
    context_.CallLinkedSetLastError(builder_, fail_->getArg(0));
    builder_.CreateRetVoid();
  }

  llvm::Value* Cpuid(uint32_t leaf, uint32_t subleaf) {
    llvm::Type* i32 = types_.i32;
    auto* type = llvm::FunctionType::get(
        llvm::StructType::get(context_.module.getContext(), {i32, i32, i32, i32}), {i32, i32},
        false);
    return builder_.CreateCall(
        llvm::InlineAsm::get(type, "cpuid",
                             absl::StrCat("={ax},={bx},={cx},={dx},{ax},{cx}", kClobbers),
                             /*hasSideEffects=*/false),
        {builder_.getInt32(leaf), builder_.getInt32(subleaf)});
  }

  // A register of a leaf, or 0 if `there` is false. CPUID of a missing leaf returns other data and
  // does no harm.
  llvm::Value* Leaf(llvm::Value* there, llvm::Value* leaf, CpuidRegister which) {
    return builder_.CreateSelect(there, builder_.CreateExtractValue(leaf, which),
                                 builder_.getInt32(0));
  }

  void StoreWord(llvm::Value* words, CpuWord word, llvm::Value* value) {
    builder_.CreateStore(value, builder_.CreateConstInBoundsGEP1_64(types_.i32, words, word));
  }

  // ask(): returns the choice for this CPU.
  void DefineAsk() {
    ask_ = Internal("ask", types_.i32, {});
    Begin(ask_);
    auto* words_type = llvm::ArrayType::get(types_.i32, kNumCpuWords);
    llvm::Value* words = builder_.CreateAlloca(words_type, nullptr, "words");
    llvm::Value* choice = builder_.CreateAlloca(types_.i32, nullptr, "choice");
    llvm::Value* last = builder_.CreateExtractValue(Cpuid(0, 0), kEax);
    llvm::Value* has_7 = builder_.CreateICmpUGE(last, builder_.getInt32(7));
    llvm::Value* leaf_7 = Cpuid(7, 0);
    llvm::Value* last_of_7 = Leaf(has_7, leaf_7, kEax);
    llvm::Value* has_7_1 = builder_.CreateICmpUGE(last_of_7, builder_.getInt32(1));
    llvm::Value* last_extended = builder_.CreateExtractValue(Cpuid(kExtendedLeaves, 0), kEax);
    llvm::Value* has_extended =
        builder_.CreateICmpUGE(last_extended, builder_.getInt32(kExtendedLeaves + 1));
    llvm::Value* leaf_1_ecx = builder_.CreateExtractValue(Cpuid(1, 0), kEcx);
    StoreWord(words, kCpuLeaf1Ecx, leaf_1_ecx);
    StoreWord(words, kCpuLeaf7Ebx, Leaf(has_7, leaf_7, kEbx));
    StoreWord(words, kCpuLeaf7Ecx, Leaf(has_7, leaf_7, kEcx));
    llvm::Value* leaf_7_edx = Leaf(has_7, leaf_7, kEdx);
    StoreWord(words, kCpuLeaf7Edx, leaf_7_edx);
    StoreWord(words, kCpuLeaf7Sub1Eax, Leaf(has_7_1, Cpuid(7, 1), kEax));
    StoreWord(words, kCpuLeaf80000001Ecx, Leaf(has_extended, Cpuid(kExtendedLeaves + 1, 0), kEcx));
    StoreWord(words, kCpuXcr0, builder_.getInt32(0));
    // XGETBV may only be executed if the operating system has enabled it.
    llvm::BasicBlock *enabled = Block("enabled"), *known = Block("known");
    llvm::Value* os_xsave = builder_.CreateAnd(leaf_1_ecx, uint64_t{kCpuOsXsave});
    builder_.CreateCondBr(builder_.CreateIsNotNull(os_xsave), enabled, known);
    builder_.SetInsertPoint(enabled);
    StoreWord(words, kCpuXcr0, Xgetbv());
    builder_.CreateBr(known);
    builder_.SetInsertPoint(known);
    if (UsesMatrices()) AskForMatrices(words, leaf_7_edx);
    builder_.CreateCall(context_.funcs.at(choice_.decide).body, {words, choice});
    builder_.CreateRet(builder_.CreateLoad(types_.i32, choice));
  }

  // True if a variant uses registers that have to be requested from Linux.
  bool UsesMatrices() const {
    return absl::c_any_of(context_.machines, [](const Machine& machine) {
      return machine.target.HasFeature("amx-tile") && TripleOf(machine.target).isOSLinux();
    });
  }

  // Removes the features whose registers Linux refuses.
  void AskForMatrices(llvm::Value* words, llvm::Value* leaf_7_edx) {
    llvm::BasicBlock *there = Block("matrices"), *refused = Block("refused"),
                     *asked = Block("asked");
    builder_.CreateCondBr(
        builder_.CreateIsNull(builder_.CreateAnd(leaf_7_edx, uint64_t{kCpuMatrixBits})), asked,
        there);
    builder_.SetInsertPoint(there);
    builder_.CreateCondBr(builder_.CreateIsNull(CallRequestMatrices(context_, builder_)), asked,
                          refused);
    builder_.SetInsertPoint(refused);
    StoreWord(words, kCpuLeaf7Edx,
              builder_.CreateAnd(leaf_7_edx, uint64_t{static_cast<uint32_t>(~kCpuMatrixBits)}));
    builder_.CreateBr(asked);
    builder_.SetInsertPoint(asked);
  }

  llvm::Value* Xgetbv() {
    llvm::Type* i32 = types_.i32;
    auto* type = llvm::FunctionType::get(
        llvm::StructType::get(context_.module.getContext(), {i32, i32}), {i32}, false);
    // As bytes, because assemblers accept the mnemonic only for processors that have it.
    llvm::Value* xcr0 = builder_.CreateCall(
        llvm::InlineAsm::get(type, ".byte 0x0f, 0x01, 0xd0",
                             absl::StrCat("={ax},={dx},{cx}", kClobbers), /*hasSideEffects=*/true),
        {builder_.getInt32(0)});
    return builder_.CreateExtractValue(xcr0, 0);
  }

  void Store(llvm::Value* choice) {
    builder_.CreateAlignedStore(choice, chosen_, llvm::Align(4))
        ->setAtomic(llvm::AtomicOrdering::Monotonic);
  }

  // The element of a constant table of texts.
  llvm::Value* TextOf(absl::Span<const std::string> texts, llvm::Value* index) {
    std::vector<llvm::Constant*> addresses;
    for (const std::string& text : texts) addresses.push_back(context_.Text(text));
    // An empty table, which is never read, gets a null element.
    if (addresses.empty()) addresses.push_back(llvm::ConstantPointerNull::get(types_.pointer));
    auto* type = llvm::ArrayType::get(types_.pointer, addresses.size());
    auto* table = new llvm::GlobalVariable(context_.module, type, /*isConstant=*/true,
                                           llvm::GlobalValue::PrivateLinkage,
                                           llvm::ConstantArray::get(type, addresses));
    return builder_.CreateLoad(types_.pointer,
                               builder_.CreateInBoundsGEP(types_.pointer, table, index));
  }

  void ReturnFailure(llvm::Value* text) {
    builder_.CreateCall(fail_, {text});
    builder_.CreateRet(builder_.getInt32(-1));
  }

  // int32_t choose(int32_t* choice).
  void DefineChoose() {
    choose_ = context_.funcs.at(choice_.function).entry;
    choose_->setLinkage(llvm::GlobalValue::InternalLinkage);
    context_.Decorate(choose_);
    Begin(choose_);
    llvm::BasicBlock *entry = builder_.GetInsertBlock(), *first = Block("first"),
                     *known = Block("known"), *failed = Block("failed"), *done = Block("done");
    llvm::LoadInst* before = builder_.CreateAlignedLoad(types_.i32, chosen_, llvm::Align(4));
    before->setAtomic(llvm::AtomicOrdering::Monotonic);
    llvm::MDNode* likely =
        llvm::MDBuilder(context_.module.getContext()).createLikelyBranchWeights();
    builder_.CreateCondBr(builder_.CreateIsNotNull(before), known, first, likely);
    builder_.SetInsertPoint(first);
    // Keeps the choice of another thread.
    llvm::Value* asked = builder_.CreateCall(ask_);
    llvm::Value* exchange = builder_.CreateAtomicCmpXchg(
        chosen_, builder_.getInt32(0), asked, llvm::Align(4), llvm::AtomicOrdering::Monotonic,
        llvm::AtomicOrdering::Monotonic);
    llvm::Value* stored = builder_.CreateSelect(builder_.CreateExtractValue(exchange, 1), asked,
                                                builder_.CreateExtractValue(exchange, 0));
    builder_.CreateBr(known);
    builder_.SetInsertPoint(known);
    llvm::PHINode* choice = builder_.CreatePHI(types_.i32, 2);
    choice->addIncoming(before, entry);
    choice->addIncoming(stored, first);
    builder_.CreateStore(choice, choose_->getArg(0));
    builder_.CreateCondBr(builder_.CreateICmpSGT(choice, builder_.getInt32(0)), done, failed,
                          likely);
    builder_.SetInsertPoint(failed);
    llvm::Value* lacked = builder_.CreateSub(builder_.getInt32(-1), choice);
    ReturnFailure(TextOf(choice_.lacks, builder_.CreateSExt(lacked, types_.i64)));
    builder_.SetInsertPoint(done);
    builder_.CreateRet(builder_.getInt32(0));
  }

  // Returns the name of the chosen variant.
  void DefineGet() {
    llvm::Function* get = context_.module.getFunction(choice_.get);
    Begin(get);
    llvm::Value* choice = builder_.CreateAlloca(types_.i32, nullptr, "choice");
    llvm::Value* status = builder_.CreateCall(choose_, {choice});
    llvm::BasicBlock *failed = Block("failed"), *done = Block("done");
    builder_.CreateCondBr(builder_.CreateIsNull(status), done, failed);
    builder_.SetInsertPoint(failed);
    llvm::Value* nothing = llvm::ConstantPointerNull::get(types_.pointer);
    builder_.CreateRet(choice_.packed ? status : nothing);
    builder_.SetInsertPoint(done);
    llvm::Value* index =
        builder_.CreateSub(builder_.CreateLoad(types_.i32, choice), builder_.getInt32(1));
    llvm::Value* name =
        TextOf(context_.program.cpu_variants(), builder_.CreateSExt(index, types_.i64));
    if (!choice_.packed) {
      builder_.CreateRet(name);
      return;
    }
    builder_.CreateStore(name, get->getArg(3));
    builder_.CreateStore(builder_.getInt32(kTypeCodeString), get->getArg(4));
    builder_.CreateRet(builder_.getInt32(0));
  }

  // equal(a, b): true if the strings are equal.
  llvm::Function* DefineEqual() {
    llvm::Function* equal =
        Internal("equal", builder_.getInt1Ty(), {types_.pointer, types_.pointer});
    Begin(equal);
    llvm::BasicBlock *entry = builder_.GetInsertBlock(), *loop = Block("loop"),
                     *next = Block("next"), *done = Block("done");
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode* i = builder_.CreatePHI(types_.i64, 2);
    i->addIncoming(builder_.getInt64(0), entry);
    llvm::Value* a =
        builder_.CreateLoad(types_.i8, builder_.CreateGEP(types_.i8, equal->getArg(0), i));
    llvm::Value* b =
        builder_.CreateLoad(types_.i8, builder_.CreateGEP(types_.i8, equal->getArg(1), i));
    llvm::Value* same = builder_.CreateICmpEQ(a, b);
    builder_.CreateCondBr(builder_.CreateAnd(same, builder_.CreateIsNotNull(a)), next, done);
    builder_.SetInsertPoint(next);
    i->addIncoming(builder_.CreateAdd(i, builder_.getInt64(1)), next);
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(done);
    builder_.CreateRet(same);
    return equal;
  }

  // select(name): chooses the variant with this name.
  void DefineSelect() {
    llvm::Function* equal = DefineEqual();
    select_ = Internal("select", types_.i32, {types_.pointer});
    Begin(select_);
    llvm::Value* best = builder_.CreateCall(ask_);
    const absl::Span<const std::string> variants = context_.program.cpu_variants();
    for (size_t k = 0; k < variants.size(); ++k) {
      llvm::BasicBlock *found = Block("found"), *next = Block("next"), *has = Block("has"),
                       *lacks = Block("lacks");
      builder_.CreateCondBr(
          builder_.CreateCall(equal, {select_->getArg(0), context_.Text(variants[k])}), found,
          next);
      builder_.SetInsertPoint(found);
      llvm::Value* number = builder_.getInt32(static_cast<uint32_t>(k) + 1);
      builder_.CreateCondBr(builder_.CreateICmpSGE(best, number), has, lacks);
      builder_.SetInsertPoint(lacks);
      ReturnFailure(context_.Text(choice_.refusals[k]));
      builder_.SetInsertPoint(has);
      Store(number);
      builder_.CreateRet(builder_.getInt32(0));
      builder_.SetInsertPoint(next);
    }
    ReturnFailure(context_.Text(choice_.unknown));
  }

  // The exported form of select.
  void DefineSet() {
    llvm::Function* set = context_.module.getFunction(choice_.set);
    Begin(set);
    llvm::Value* name = set->getArg(0);
    llvm::BasicBlock *given = Block("given"), *failed = Block("failed");
    if (choice_.packed) {
      llvm::BasicBlock* counted = Block("counted");
      builder_.CreateCondBr(builder_.CreateICmpEQ(set->getArg(2), builder_.getInt32(1)), counted,
                            failed);
      builder_.SetInsertPoint(counted);
      llvm::Value* code = builder_.CreateLoad(types_.i32, set->getArg(1));
      builder_.CreateCondBr(builder_.CreateICmpEQ(code, builder_.getInt32(kTypeCodeString)), given,
                            failed);
      builder_.SetInsertPoint(given);
      name = builder_.CreateLoad(types_.pointer, name);
    } else {
      builder_.CreateCondBr(builder_.CreateIsNotNull(name), given, failed);
      builder_.SetInsertPoint(given);
    }
    builder_.CreateRet(builder_.CreateCall(select_, {name}));
    builder_.SetInsertPoint(failed);
    ReturnFailure(context_.Text(choice_.unknown));
  }

  ModuleContext& context_;
  const IrTypes& types_;
  const loop::CpuChoice& choice_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;  // the function under construction
  llvm::GlobalVariable* chosen_ = nullptr;
  llvm::Function* fail_ = nullptr;
  llvm::Function* ask_ = nullptr;
  llvm::Function* choose_ = nullptr;
  llvm::Function* select_ = nullptr;
};

}  // namespace

void DeclareCpuChoice(ModuleContext& context) {
  const auto& choice = context.program.cpu_choice;
  if (!choice) return;
  const IrTypes& types = context.types;
  const auto declare = [&](const std::string& name, llvm::FunctionType* type) {
    if (context.module.getNamedValue(name) != nullptr) {
      context.Fail(absl::StrCat("two symbols have the name ", name));
      return;
    }
    context.Decorate(
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, context.module));
  };
  declare(choice->get,
          choice->packed ? types.PackedFunction() : llvm::FunctionType::get(types.pointer, false));
  declare(choice->set, choice->packed ? types.PackedFunction()
                                      : llvm::FunctionType::get(types.i32, {types.pointer}, false));
}

void DefineCpuChoice(ModuleContext& context) {
  if (context.program.cpu_choice && context.status().ok()) CpuChoiceEmitter(context).Define();
}

}  // namespace kiln::codegen
